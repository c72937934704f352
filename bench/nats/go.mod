module trireme/bench/nats

go 1.26.0

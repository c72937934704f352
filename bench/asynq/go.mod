module trireme/bench/asynq

go 1.26.0

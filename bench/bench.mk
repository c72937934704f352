# Included by the top Makefile, whose `build` target makes bin/trireme.
# `make bench BENCH="-rows 1,2 -pairs 7"` picks rows; bin/bench -h lists the flags.

TAGS ?= nomsgpack,hashicorpmetrics

.PHONY: bench bench-tools
bench: build bench-tools
	bin/bench -install $(BENCH)

# The etcd member is a module of its own. When it can't be built (no module
# proxy in reach), its rows say that the peer is missing.
bench-tools:
	go build -tags $(TAGS) -o bin/bench ./bench/cmd/bench
	-cd bench/etcd && CGO_ENABLED=0 go build -o ../../bin/etcd-member .

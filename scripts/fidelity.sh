#!/usr/bin/env bash
# Runs every command script against the redis-server of this machine, with a clock
# that the test sets, and compares the replies. It fails where there is no
# redis-server or no C compiler; `make test` skips the comparison there.
set -euo pipefail
cd "$(dirname "$0")/.."
TRIREME_FIDELITY=required exec "${GO:-go}" test -tags nomsgpack,hashicorpmetrics -count 1 -run '^TestFidelity' -v ./fsm/command

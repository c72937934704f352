#!/usr/bin/env bash
# Compares the commands with the redis-server of this machine, whose clock the test sets. Without COMMANDS it runs every
# command script and a short run of random commands. With COMMANDS=N it compares N random commands, half of them over RESP
# and half over HTTP, in blocks with a seed each, from SEED (1) on; then it feeds N/2 random commands of all families to
# three machines, one of them restored twice on the way, and compares their state digests. A difference ends its block; the
# others still run. It fails where there is no redis-server or no C compiler; `make test` skips the comparison there.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
tags=${TAGS:-nomsgpack}
export TRIREME_FIDELITY=required
if [ -z "${COMMANDS:-}" ]; then
  exec "$go" test -tags "$tags" -count 1 -run '^TestFidelity' -v ./fsm/command
fi
if ! [[ $COMMANDS =~ ^[1-9][0-9]{0,9}$ && ${SEED:-1} =~ ^[0-9]{1,9}$ ]]; then
  echo "fidelity: COMMANDS and SEED are numbers, COMMANDS from 1; got COMMANDS=$COMMANDS SEED=${SEED:-1}" >&2
  exit 2
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$go" test -tags "$tags" -c -o "$dir/command.test" ./fsm/command
"$go" test -tags "$tags" -c -o "$dir/fsm.test" ./fsm
block=50000
failed=0
compare() { # origin commands
  local left=$2 seed=${SEED:-1} n
  while [ "$left" -gt 0 ]; do
    n=$((left < block ? left : block))
    if (cd fsm/command && "$dir/command.test" -test.timeout 60m -test.run '^TestFidelityOfRandomCommands$' \
      -fidelity.origin "$1" -fidelity.commands "$n" -fidelity.seed "$seed") >"$dir/out" 2>&1; then
      echo "$1, seed $seed: $n commands, no difference that isn't explained"
    else
      failed=1
      cat "$dir/out"
    fi
    left=$((left - n)) seed=$((seed + 1))
  done
}
compare resp $(((COMMANDS + 1) / 2))
compare http $((COMMANDS / 2))
# The three seeds of TestReplay share the commands.
(cd fsm && "$dir/fsm.test" -test.timeout 60m -test.v -test.run '^TestReplay$' -replay $(((COMMANDS + 1) / 2))) >"$dir/out" 2>&1 || failed=1
grep -E 'one digest|FAIL|digest|replay_test' "$dir/out" || cat "$dir/out"
exit $failed

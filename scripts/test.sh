#!/usr/bin/env bash
# Runs the tests of PKG (default: all) with the race detector. Most of them start real
# servers and share the machine with each other, so one that fails is run once more,
# when the rest is through: what fails again has failed. Both runs are printed, and the
# tests that needed the second one are listed at the end, to be mended. A data race and
# a verdict about histories (./jepsen) count at once: those may be as rare as they like.
# So do many failures at a time; a subtest counts as well as those that it is part of.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
# A process with the race detector sleeps for a second before it ends, and the tests start many.
export GORACE="${GORACE:-atexit_sleep_ms=100}"
flags=(-tags nomsgpack,hashicorpmetrics -race -p "${P:-2}" -timeout 40m)

# What is missing is named once, with what to install; the tests that need it skip themselves.
need() { # PROGRAM, WHAT IT IS FOR, DEBIAN PACKAGE
  command -v "$1" >/dev/null || { echo "test: skipped without $1: $2 (Debian: apt-get install $3)"; return 1; }
}
need npm "tests with JavaScript clients" "nodejs npm" || true
need redis-server "the comparison with Redis" redis-server || true
need redis-cli "tests with redis-cli" redis-tools || true
need gcc "the race detector, and the clock of the comparison" "gcc libc6-dev" || { flags=("${flags[@]/-race/}"); export CGO_ENABLED=0; }
mapfile -t flags < <(printf '%s\n' "${flags[@]}" | grep .)
read -ra asked <<<"${PKG:-./...}"

all=$("$go" list -tags nomsgpack,hashicorpmetrics "${asked[@]}")
mapfile -t verdicts < <(grep -E '/trireme/jepsen(/|$)' <<<"$all" || true)
mapfile -t rest < <(grep -vE '/trireme/jepsen(/|$)' <<<"$all" || true)

failed=0
if [ ${#rest[@]} -gt 0 ]; then
  mkdir -p bin
  if "$go" build -C scripts/gotestsum -o "$PWD/bin/gotestsum" gotest.tools/gotestsum; then
    again=$(mktemp) events=$(mktemp)
    trap 'rm -f "$again" "$events"' EXIT
    bin/gotestsum --format standard-quiet --hide-summary skipped \
      --rerun-fails=1 --rerun-fails-max-failures=12 --rerun-fails-abort-on-data-race \
      --rerun-fails-report "$again" --jsonfile "$events" --packages "${rest[*]}" -- "${flags[@]}" || failed=1
    # A test binary that ended by a panic, a signal or an exit of its own has not run all of its
    # tests, so a second run of the one that was running proves nothing.
    aborted=$(awk -f scripts/aborted.awk "$events")
    if [ -n "$aborted" ]; then
      echo "test binaries that were aborted, whatever a second run said:"
      echo "$aborted"
      failed=1
    fi
    if [ -s "$again" ]; then
      echo "tests that were run again (runs, failures):"
      cat "$again"
    fi
  else
    echo "gotestsum can't be built here: a test that fails is not run again"
    "$go" test "${flags[@]}" "${rest[@]}" || failed=1
  fi
fi
# What a request allocates can't be counted under the race detector.
if grep -q '/trireme/httpapi$' <<<"$all"; then
  "$go" test -tags nomsgpack,hashicorpmetrics -count 1 -run '^TestAllocations' ./httpapi || failed=1
fi
if [ ${#verdicts[@]} -gt 0 ]; then
  "$go" test "${flags[@]}" "${verdicts[@]}" || failed=1
fi
exit $failed

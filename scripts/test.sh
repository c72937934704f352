#!/usr/bin/env bash
# Runs the tests of PKG (default: all), each once: a test that fails has failed. What failed is listed again at the end.
# The race detector is on, but for packages that compute and start no goroutine, where it could find nothing
# (TestRaceDetectorIsOnWhereItCanFind), and for the scripts through entry points, which httpapi and resp test with it.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
tags=(-tags nomsgpack,hashicorpmetrics)
# A process with the race detector sleeps for a second before it ends, and the tests start many.
export GORACE="${GORACE:-atexit_sleep_ms=100}"
flags=(-p "${P:-2}" -timeout 40m -vet=off) # make has vetted everything
race=(-race)
read -ra asked <<<"${PKG:-./...}"

# What is missing is named once, with what to install; the tests that need it skip themselves.
need() { # PROGRAM, WHAT IT IS FOR, DEBIAN PACKAGE
  command -v "$1" >/dev/null || { echo "test: skipped without $1: $2 (Debian: apt-get install $3)"; return 1; }
}
need npm "tests with JavaScript clients" "nodejs npm" || true
need redis-server "the comparison with Redis" redis-server || true
need redis-cli "tests with redis-cli" redis-tools || true
need gcc "the race detector, and the clock of the comparison" "gcc libc6-dev" || { race=(); export CGO_ENABLED=0; }

all=$("$go" list "${tags[@]}" "${asked[@]}")
serial='/trireme/(fsm(/(acl|backoff|channel|command|cow|dedup|env|exact|geo|glob|hll|jsondoc|listpack|payload|queue|rdb|reply|saving|script|search|vector|wire|workflow)(/.*)?)?|jepsen/(check|sim)|clients/conformance)$'
mapfile -t alone < <(grep -E "$serial" <<<"$all" || true)
mapfile -t others < <(grep -vE "$serial" <<<"$all" || true)

output=$(mktemp)
trap 'rm -f "$output"' EXIT
failed=0
run() { "$go" test "${tags[@]}" "$@" 2>&1 | tee -a "$output" || failed=1; }
if [ ${#alone[@]} -gt 0 ]; then run "${flags[@]}" "${alone[@]}"; fi
if [ ${#others[@]} -gt 0 ]; then run "${race[@]}" "${flags[@]}" "${others[@]}"; fi
# What a request allocates can't be counted under the race detector.
if grep -q '/trireme/httpapi$' <<<"$all"; then run -count 1 -run '^TestAllocations' ./httpapi; fi
if [ $failed != 0 ]; then
  echo "test: failed:"
  grep -E '^ *--- FAIL: |^FAIL[[:space:]]+[^[:space:]]|^panic: |^fatal error: |^WARNING: DATA RACE' "$output" || true
fi
exit $failed

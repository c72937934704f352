#!/usr/bin/env bash
# Runs the tests of PKG (default: all), each once: a test that fails has failed. What failed is listed again at the end.
#   test.sh       every package, without the race detector; runs that are long by nature skip themselves (testing.Short)
#   test.sh race  the long runs, and the race detector: packages that compute and start no goroutine, where it could find
#                 nothing, are left out (TestRaceDetectorIsOnWhereItCanFind), and so are the scripts through entry points,
#                 which httpapi and resp test with it
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
tags=(-tags nomsgpack)
# A process with the race detector sleeps for a second before it ends, and the tests start many.
export GORACE="${GORACE:-atexit_sleep_ms=100}"
flags=(-p "${P:-2}" -timeout 40m -vet=off) # make has vetted everything
mode=${1:-test}
case $mode in
test) how=(-short) ;;
race) how=(-race) ;;
*)
  echo "test: expected race or nothing, got $mode" >&2
  exit 2
  ;;
esac
read -ra asked <<<"${PKG:-./...}"

# What is missing is named once, with what to install; the tests that need it skip themselves.
need() { # PROGRAM, WHAT IT IS FOR, DEBIAN PACKAGE
  command -v "$1" >/dev/null || { echo "test: skipped without $1: $2 (Debian: apt-get install $3)"; return 1; }
}
need npm "tests with JavaScript clients" "nodejs npm" || true
need redis-server "the comparison with Redis" redis-server || true
need redis-cli "tests with redis-cli" redis-tools || true
need gcc "the race detector, and the clock of the comparison" "gcc libc6-dev" || {
  export CGO_ENABLED=0
  if [ "$mode" = race ]; then how=(); fi
}

packages=$("$go" list "${tags[@]}" "${asked[@]}")
serial='/trireme/(console|fsm(/(acl|backoff|channel|command|dedup|env|exact|geo|glob|hll|jsondoc|listpack|payload|queue|rdb|reply|saving|script|search|vector|wire|workflow)(/.*)?)?|jepsen/(check|sim)|clients/conformance)$'
if [ "$mode" = race ]; then packages=$(grep -vE "$serial" <<<"$packages" || true); fi
if [ -z "$packages" ]; then exit 0; fi
mapfile -t packages <<<"$packages"

output=$(mktemp)
trap 'rm -f "$output"' EXIT
failed=0
"$go" test "${tags[@]}" "${how[@]}" "${flags[@]}" "${packages[@]}" 2>&1 | tee "$output" || failed=1
if [ $failed != 0 ]; then
  echo "test: failed:"
  grep -E '^ *--- FAIL: |^FAIL[[:space:]]+[^[:space:]]|^panic: |^fatal error: |^WARNING: DATA RACE' "$output" || true
fi
exit $failed

#!/usr/bin/env bash
# Prepares what the tests use beside Go: the packages of the JavaScript client tests.
# What can't be had here is named; the tests that need it then say that they were
# skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v npm >/dev/null; then
  echo "setup: npm is not installed: the tests with JavaScript clients will be skipped"
else
  while IFS= read -r lock; do
    dir=$(dirname "$lock")
    # npm ci removes and installs everything: only when the lock file has changed.
    if ! cmp -s "$lock" "$dir/node_modules/.installed-lock.json"; then
      echo "setup: npm ci in $dir"
      (cd "$dir" && npm ci --no-audit --no-fund --loglevel=error)
      cp "$lock" "$dir/node_modules/.installed-lock.json"
    fi
  done < <(git ls-files '*package-lock.json')
fi

command -v redis-server >/dev/null ||
  echo "setup: redis-server is not installed: the comparison with it will be skipped"

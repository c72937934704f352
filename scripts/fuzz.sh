#!/usr/bin/env bash
# Runs every fuzz target for the given time each: scripts/fuzz.sh 5m
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
git grep -l --untracked -E '^func Fuzz[A-Z]' -- '*_test.go' | xargs -n1 dirname | sort -u | while IFS= read -r dir; do
  grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | awk '{ print $2 }' | while IFS= read -r target; do
    echo "fuzz: $dir $target for $time"
    go test -tags nomsgpack,hashicorpmetrics -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$dir"
  done
done

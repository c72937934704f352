#!/bin/sh
# Installs the published clients that the tests in this folder and the examples run, each
# from its own lock file. It does nothing where they are installed already. Those of adapters/ are for `make adapters` alone.
set -eu
cd "$(dirname "$0")"
command -v npm >/dev/null || { echo "clients: npm is not installed, so tests with JavaScript clients are skipped (Debian: apt-get install nodejs npm)" >&2; exit 0; }
for lock in */package-lock.json world/test/package-lock.json ../console/package-lock.json ../docs/examples/*/package-lock.json; do
  folder=${lock%/*}
  [ "$folder" != adapters ] || continue
  installed=$folder/node_modules/.installed-lock.json # scripts/setup.sh keeps it too
  if ! cmp -s "$lock" "$installed"; then
    (cd "$folder" && npm ci --no-audit --no-fund --ignore-scripts --prefer-offline)
    cp "$lock" "$installed"
  fi
done

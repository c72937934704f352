#!/usr/bin/env bash
# gofmt, Biome for the console and clients/world, and staticcheck. staticcheck is a tool of a module of its own, so that the
# product's go.mod stays free of it.
set -euo pipefail
cd "$(dirname "$0")/.."
bad=$(git ls-files '*.go' | xargs gofmt -l)
if [ -n "$bad" ]; then
  echo "not formatted by gofmt:"
  echo "$bad"
  exit 1
fi
scripts/terms.sh
clients/setup.sh
if [ -x console/node_modules/.bin/biome ]; then
  (cd console && node_modules/.bin/biome check --error-on-warnings .)
  (cd clients/world && ../../console/node_modules/.bin/biome check --error-on-warnings . && node_modules/.bin/tsc -p tsconfig.json --noEmit)
else
  echo "lint: Biome is not installed, so the sources of the console and of clients/world are not checked"
fi
version=v0.8.2
tool=bin/staticcheck-$version
if [ ! -x "$tool" ]; then
  echo "lint: building staticcheck $version"
  mkdir -p bin
  GOFLAGS= GOBIN=$PWD/bin go install honnef.co/go/tools/cmd/staticcheck@$version
  mv bin/staticcheck "$tool"
fi
exec "$tool" -tags nomsgpack ./...

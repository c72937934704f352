#!/bin/sh
# Prints the version of the working tree, in an order that Debian and semantic versions keep:
# the tag's, or of a commit between tags 0.1.0+git20261122.35ac9f1, before any 0~git20261122.35ac9f1.
# scripts/release has the same rule.
cd "$(dirname "$0")/.." || exit 1
tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null) && { echo "${tag#v}"; exit; }
commit=$(TZ=UTC0 git log -1 --date=format-local:%Y%m%d --format='git%cd.%H' 2>/dev/null | cut -c1-19) || exit
[ -n "$commit" ] || { echo dev; exit; }
last=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) && { echo "${last#v}+$commit"; exit; }
echo "0~$commit"

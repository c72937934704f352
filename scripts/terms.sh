#!/usr/bin/env bash
# Finds words that were replaced by the field's terms (docs/glossary.md, CONTRIBUTING.md): names of code,
# phrases of comments, documents and messages. scripts/terms.txt has a line for each: a pattern of
# `git grep -E`, the term to use, and optionally a pattern of paths where the word is right.
# With a folder as argument it looks there only. Exit code 1: something was found.
set -u
cd "$(dirname "$0")/.."
where=("${@:-.}")
# Written by programs, recorded from others, or the list itself.
skip=(':!docs/reports' ':!scripts/terms.*' ':!CHANGELOG.md' ':!NOTICE' ':!LICENSE' ':!*.json' ':!*.sum' ':!*/testdata/*' ':!docs/glossary.md')
found=0
while IFS=$'\t' read -r pattern term allowed; do
  case $pattern in '' | \#*) continue ;; esac
  hits=$(git grep -nIE "$pattern" -- "${where[@]}" "${skip[@]}" | { if [ -n "${allowed:-}" ]; then grep -vE "$allowed"; else cat; fi; })
  if [ -n "$hits" ]; then
    found=1
    printf '%s: use "%s"\n' "$pattern" "$term"
    printf '%s\n' "$hits" | cut -c1-160 | sed 's/^/  /'
  fi
done <scripts/terms.txt
if [ $found = 0 ]; then echo "terms: ok"; fi
exit $found

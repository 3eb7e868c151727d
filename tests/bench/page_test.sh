#!/bin/bash
# Whether scripts/bench measures and writes its page, on as little work as there can be: page_test.sh BUILD_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/../.."
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
die() {
  printf 'page_test: %s\n' "$@" >&2
  exit 1
}

scripts/bench --build "$1" --quick --rows pairs --columns untraced,session --page "$directory/page" --json "$directory/json" \
  >"$directory/report" 2>"$directory/errors" || die "scripts/bench failed" "$(tail -n 20 "$directory/errors")"
jq -e '.schema == "hawktrace.bench/2" and .quick' "$directory/json" >/dev/null || die "the samples are not as documented"
title=$(head -n 1 scripts/benchmarks/README.md)
[[ $(head -n 1 "$directory/page") == "$title" ]] || die "the page does not begin with: $title"
# A table with a figure of hawktrace's in it.
grep -qE '^\|.*[0-9] (ns|×|us)' "$directory/page" || grep -qE '^\|.*[0-9]+\.[0-9]+' "$directory/page" || die "the page has no figure"

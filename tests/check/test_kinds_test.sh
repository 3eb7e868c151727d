#!/bin/bash
# scripts/check_test_kinds on trees of tests that lack a kind, and the presets against what earlier runs left in a cache.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failures=0

complain() {
  echo "$1"
  failures=$((failures + 1))
}

# tree: what ctest finds in $root, from standard input.
tree() { cat >"$root/CTestTestfile.cmake"; }
accepts() { scripts/check_test_kinds "$root" "$@" >"$root/said" 2>&1 || complain "refuses $*: $(cat "$root/said")"; }
# refuses MISSING KIND...: it names the one that is missing.
refuses() {
  local missing=$1
  shift
  if scripts/check_test_kinds "$root" "$@" >"$root/said" 2>&1; then complain "accepts $*"; fi
  grep -q "has no $missing tests" "$root/said" || complain "does not name $missing: $(cat "$root/said")"
}

tree <<'END'
add_test(unit.a true)
set_tests_properties(unit.a PROPERTIES LABELS unit)
add_test(real.b true)
set_tests_properties(real.b PROPERTIES LABELS "kernel;slow")
add_test(fuzz_NOT_BUILT fuzz_NOT_BUILT)
END
accepts unit
accepts unit kernel real slow
refuses check unit check
refuses fuzz fuzz # not built
refuses uni uni   # no pattern
tree </dev/null
refuses unit unit

# Every option is a row of each preset, so that it does not keep what it was.
mapfile -t options < <(grep -rhoP --include=CMakeLists.txt --include='*.cmake' \
  '^\s*(option|set)\(\KHAWKTRACE_\w+(?=.*(CACHE| ON\)| OFF\)))' CMakeLists.txt scripts/cmake bpf userspace symbolizer tests | sort -u)
((${#options[@]} >= 5)) || complain "found only these options: ${options[*]}"
for option in "${options[@]}"; do
  grep -q "\"$option\"" <(sed -n '/"name": "base"/,/^    }/p' CMakePresets.json) || complain "preset base does not set $option"
done

# value OPTION: as the cache has it.
value() { sed -n "s/^$1:[A-Z]*=//p" "$root/build/CMakeCache.txt"; }
configure() { cmake --preset release -B "$root/build" "$@" >"$root/said" 2>&1 || complain "configure: $(cat "$root/said")"; }

configure -DHAWKTRACE_TESTS=OFF -DHAWKTRACE_SANITIZE=ON -DHAWKTRACE_WERROR=OFF "-DHAWKTRACE_TEST_KINDS=check"
configure
[[ $(value HAWKTRACE_TESTS) == ON ]] || complain "HAWKTRACE_TESTS stays off"
[[ $(value HAWKTRACE_SANITIZE) == OFF ]] || complain "HAWKTRACE_SANITIZE stays on"
[[ $(value HAWKTRACE_WERROR) == ON ]] || complain "HAWKTRACE_WERROR stays off"
[[ $(value HAWKTRACE_TEST_KINDS) == *kernel*check ]] || complain "HAWKTRACE_TEST_KINDS stays $(value HAWKTRACE_TEST_KINDS)"
if cmake --preset release -B "$root/build" -DHAWKTRACE_TEST_KINDS=units >"$root/said" 2>&1; then
  complain "a kind that does not exist is accepted"
fi

exit $((failures > 0))

#!/bin/bash
# scripts/check_probes_end on programs that end, that fail and that hang.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failures=0

complain() {
  echo "$1: $(cat "$root/said")"
  failures=$((failures + 1))
}

# program NAME: from standard input.
program() {
  cat >"$root/$1"
  chmod +x "$root/$1"
}

# check NAME SECONDS: what it prints comes through a pipe, which a process that is left behind must not hold open.
check() { timeout 20 scripts/check_probes_end "$root/$1" "$2" 2>&1 | cat >"$root/said"; }

program ends <<'END'
#!/bin/bash
printf '%s\n' "$@" >"$0.words"
[[ -d /proc/$2 ]]
END
program fails <<<'#!/bin/false'
program hangs <<'END'
#!/bin/bash
echo $$ >"$0.pid"
trap '' TERM INT
while :; do read -r -t 1 <>"$0.fifo" || true; done
END
mkfifo "$root/hangs.fifo"

check ends 20 || complain "a program that ends is refused"
[[ $(head -n 1 "$root/ends.words") == -p ]] || complain "it was not given a process"
check fails 20 || complain "a program that fails is refused"
if check hangs 1; then complain "a program that hangs is accepted"; fi
grep -q "has not ended for 1 s" "$root/said" || complain "does not say what hangs"
timeout 20 tail --pid="$(cat "$root/hangs.pid")" -f /dev/null || complain "leaves a program running that can be killed"

exit $((failures > 0))

#!/bin/sh
# The daemon where cgroups are of version 2, as a machine of scripts/vm_matrix runs it: memory.max, memory.events and
# memory.pressure of real cgroups. Prints "result: NAME memory WHAT hash passed" for each case.
#   memory_pressure.sh NAME LEDGERS
release=$1 ledgers=$2
work=/tmp/memory
mkdir -p $work/heaps
chmod 700 $work/heaps
cat >$work/hawktrace.toml <<'CONFIG'
[daemon]
interval = "100ms"
directory = "/tmp/memory/heaps"
[serve]
listen = ["127.0.0.1:9911"]
[target.limit]
cgroup = "/limit"
mode = "watch"
watch-every = "100ms"
watch-min-growth = "8M"
watch-time-to-limit = "1h"
[target.pressure]
cgroup = "/pressure"
mode = "watch"
watch-every = "100ms"
watch-time-to-limit = "1s"
watch-pressure = 5.0
[target.oom]
cgroup = "/oom"
watch-every = "100ms"
CONFIG

# until WHAT COMMAND...: waits for something that is announced to nobody; up to two minutes of a slow machine.
until_so() {
  what=$1
  shift
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    if [ $tries = 1200 ]; then
      echo "waited in vain: $what"
      return 1
    fi
    usleep 100000
  done
}

said() { grep -q "$1" $work/said; }
metric() { wget -q -O - 127.0.0.1:9911/metrics | grep -q "^$1\$"; }
is_ready() { wget -q -O /dev/null 127.0.0.1:9911/healthz 2>/dev/null; }
has_steps() { [ "$(grep -c step "$1")" -ge "$2" ]; }
has_ended() { ! [ -d "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }

# begin NAME LIMIT BYTES: a ledger in a cgroup with this limit. Its input is descriptor 3.
begin() {
  mkdir -p /sys/fs/cgroup/"$1"
  echo "$3" >/sys/fs/cgroup/"$1/$2"
  rm -f "$work/$1.in"
  mkfifo "$work/$1.in"
  exec 3<>"$work/$1.in"
  sh -c 'echo $$ >/sys/fs/cgroup/$0/cgroup.procs; exec "$1"' "$1" "$ledgers/by_step" <&3 >"$work/$1.out" &
  target=$!
  until_so "$1 is ready" grep -q ready "$work/$1.out"
}

# grow NAME UNTIL...: until something is so.
grow() {
  name=$1
  shift
  steps=0
  while ! "$@" && ! has_ended "$target" && [ $steps -lt 100 ]; do
    steps=$((steps + 1))
    printf s >&3
    until_so "step $steps of $name" has_stepped "$@" || return 1
    usleep 100000
  done
  "$@"
}
# Or it is so by now: what has been allocated may take its time to be used.
has_stepped() { has_steps "$work/$name.out" "$steps" || has_ended "$target" || "$@"; }

# exact NAME: what its last recording says is exact, and has the blocks that were allocated meanwhile.
exact() {
  set -- "$work/heaps/$1"/*.hawk
  while [ $# -gt 1 ]; do shift; done
  hawktrace report -q --format json "$1" >$work/report && grep -q '"exact": true' $work/report &&
    grep -q '"function": *"by_step"' $work/report
}

tell() {
  if [ "$2" = 0 ]; then
    echo "result: $release memory $1 hash passed"
  else
    echo "result: $release memory $1 hash FAILED"
    tail -n 12 $work/said
  fi
}

# A limit that will be reached: watched without a probe, then traced exactly.
limit() {
  begin limit memory.max 268435456
  until_so "limit is watched" metric 'hawktrace_cgroup_limit_bytes{target="limit"} 268435456' || return 1
  metric 'hawktrace_traces_begun_total{target="limit"} 0' || return 1
  grow limit said 'limit: .* MiB are used, growing by .*: the limit, .* MiB more, is reached in .*; it is traced for' || return 1
  until_so "limit is traced" metric 'hawktrace_traces_begun_total{target="limit"} 1' || return 1
  printf ss >&3
  until_so "two steps more" has_steps $work/limit.out $((steps + 2)) || return 1
  printf 'e\n' >&3
  wait $target
  until_so "the end of limit" said 'limit: process .* \(ended\|exited with status 0\);' || return 1
  exact limit && grep -q '"allocated_bytes": 8388608' $work/report
}

# Waiting for memory: above memory.high the kernel slows it down.
pressure() {
  begin pressure memory.high 33554432
  grow pressure said 'pressure: its cgroup waits for memory .* % of the time; it is traced for' || return 1
  until_so "pressure is traced" metric 'hawktrace_traces_begun_total{target="pressure"} 1' || return 1
  echo max >/sys/fs/cgroup/pressure/memory.high
  printf s >&3
  until_so "a step more" has_steps $work/pressure.out $((steps + 1)) || return 1
  kill -KILL $target
  until_so "the end of pressure" said 'pressure: process .* \(ended\|was killed by SIGKILL\);' || return 1
  exact pressure && grep -q '"allocated_bytes": 4194304' $work/report
}

# Killed for lack of memory, while another process of its cgroup lives: memory.events tells it.
oom() {
  begin oom memory.max 67108864
  sh -c 'echo $$ >/sys/fs/cgroup/oom/cgroup.procs; exec sleep 1000' &
  bystander=$!
  until_so "oom is traced" metric 'hawktrace_traces_begun_total{target="oom"} [12]' || return 1
  grow oom has_ended "$target" || return 1
  until_so "its end" said 'oom: process .* (by_step) was killed for lack of memory' || return 1
  until_so "its end is counted" metric 'hawktrace_cgroup_oom_kills_total{target="oom"} 1' || return 1
  kill $bystander
  metric 'hawktrace_oom_kills_total{target="oom"} 1'
}

mount -t cgroup2 cgroup /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
ip link set lo up
hawktrace daemon --config $work/hawktrace.toml 2>$work/said &
daemon=$!
until_so "the daemon" is_ready
for case in limit pressure oom; do
  $case
  tell $case $?
done
kill $daemon
wait $daemon

"""What scripts/bench is made of.

common    programs that obey lines, time bounds, samples
hawktrace hawktrace under measurement, what it can do, and the memory it takes
column    what a workload runs under
columns   the ones that attach: the trap floor, hawktrace, and peers
peers     the ones that a process has to be started with
calls     rows: pairs, threads, lists, growth
live      rows: ten million live blocks
services  rows: redis, a compile
targets   rows: 1, 10 and 100 processes under one hawktrace
itself    rows: attaching, draining, own CPU and memory
limits    what is promised, and whether it is kept
tables    Markdown and JSON
"""

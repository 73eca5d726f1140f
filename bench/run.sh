#!/bin/sh
# The benchmarks of a finished build, against the targets: bench/run.sh BUILD-DIRECTORY [OPTION...]
#
#     --rounds N    interleaved rounds (5)
#     --only NAME   saturated, round_trip, pipelining, heap, compile or micro
#     --json FILE   the figures for a program
#
# A target that is missed is said and is no error: a loaded machine misses some.

set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
programs=$1/bench
shift

only=''
previous=''
for argument in "$@"; do
  if [ "$previous" = --only ]; then only=$argument; fi
  previous=$argument
done

if [ "$only" != micro ]; then
  echo "==> load of the machine: $(cut -d ' ' -f 1-3 /proc/loadavg) on $(nproc) cores"
  code=0
  "$programs/compare" --headers "$root/api" "$@" || code=$?
  if [ "$code" -gt 1 ]; then exit "$code"; fi
fi
if [ -z "$only" ] || [ "$only" = micro ]; then
  if [ -x "$programs/micro_bench" ]; then
    "$programs/micro_bench"
  else
    echo "==> no micro_bench: Google Benchmark is missing"
  fi
fi

#!/bin/sh
# The scaling curves of a finished build: measures, and draws what was measured.
#
#     bench/curves.sh BUILD-DIRECTORY [OPTION...]
#
#     --only NAME,...    these curves: partitions brokers waiters record_size backlog lanes
#                        round_trip
#     --rounds N         interleaved rounds (3)
#     --json DIRECTORY   for the samples and the pictures, in place of bench/figures and docs/curves
#     --draw-only        nothing is run: the pictures are drawn from the samples that are there
#
# matplotlib draws; the Debian package belongs to /usr/bin/python3, whichever comes first in PATH.

set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
build=$1
shift

fail() {
  echo "curves: $*" >&2
  exit 2
}

only='' rounds=3 json='' draws_only=false
while [ $# -gt 0 ]; do
  case $1 in
    --draw-only) draws_only=true && shift && continue ;;
    --only) only=${2-} ;;
    --rounds) rounds=${2-} ;;
    --json) json=${2-} ;;
    *) fail "what is '$1'?" ;;
  esac
  [ -n "${2-}" ] || fail "$1 takes a value"
  shift 2
done
pictures=${json:-$root/docs/curves}
json=${json:-$root/bench/figures}

python=''
for each in python3 /usr/bin/python3; do
  if "$each" -c 'import matplotlib' 2>/dev/null; then python=$each && break; fi
done
[ -n "$python" ] || fail "no matplotlib: install python3-matplotlib"

if ! $draws_only; then
  echo "==> load of the machine: $(cut -d ' ' -f 1-3 /proc/loadavg) on $(nproc) cores"
  "$python" "$root/bench/curves.py" --programs "$build/bench" --json "$json" --rounds "$rounds" \
    ${only:+--only "$only"}
fi
"$python" "$root/bench/draw_curves.py" --json "$json" --output "$pictures" ${only:+--only "$only"}

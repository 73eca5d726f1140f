#!/bin/sh
# What a record costs partita itself, in units that no other work on the machine changes, against
# budgets.txt. Fails where a budget is exceeded by more than 5 %; a cost far below it is said, so
# that the budget follows.
#
#     cost_test.sh RECORD_COST COMPILER
#
# The difference between a long and a short run is divided by the difference of their records, so
# that the start does not count. What the simulated brokers do is left out: valgrind counts inside
# the calls of the producer, the turns of its lane and its reading of answers, and not inside the
# simulated network's taking of bytes, which each call of `write` turns off.
set -eu
program=$1
compiler=$2
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
command -v valgrind >/dev/null || { echo "skipped: no valgrind"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for records in 10000 40000; do
  valgrind --tool=callgrind --callgrind-out-file="$work/out.$records" --collect-atstart=no \
    --toggle-collect='partita::producer::submit*' \
    --toggle-collect='partita::actors::lane::run_once*' \
    --toggle-collect='partita::actors::connection::on_bytes*' \
    --toggle-collect='partita::testing::simulated_stream::write*' \
    "$program" $records >"$work/said.$records" 2>"$work/errors" || {
    cat "$work/said.$records" "$work/errors" >&2
    exit 1
  }
done
# A guard that can not fail guards nothing.
sed 's/[0-9.]*$/0.00001/' "$here/budgets.txt" >"$work/tiny"
if python3 "$here/costs.py" "$work/tiny" "$compiler" "$work" 10000 40000 >"$work/verdict"; then
  echo "budgets that are exceeded are not noticed:"
  cat "$work/verdict"
  exit 1
fi
python3 "$here/costs.py" "$here/budgets.txt" "$compiler" "$work" 10000 40000

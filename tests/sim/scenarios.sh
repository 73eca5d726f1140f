#!/bin/sh
# scenarios.sh [--list] PROGRAM...: runs the scenario tests of these test programs and prints one
# line per row and variant of the catalogue: id, test, result. With --list nothing is run. Ends with
# 1 when a row has no test or a test fails.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
run=1
if [ "${1-}" = --list ]; then run=0 && shift; fi
[ $# -gt 0 ] || { echo "scenarios.sh [--list] PROGRAM..." >&2 && exit 2; }
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# One "name result milliseconds" per test.
for program in "$@"; do
  if [ $run = 1 ]; then
    "$program" --gtest_filter='fault_*' --gtest_brief=0 2>/dev/null |
      sed -n -E \
        -e 's/^\[       OK \] ([^ ]+) \(([0-9]+) ms\).*/\1 ok \2/p' \
        -e 's/^\[  FAILED  \] ([^ ]+) \(([0-9]+) ms\).*/\1 FAILED \2/p' \
        -e 's/^\[  SKIPPED \] ([^ ]+) \(([0-9]+) ms\).*/\1 skipped \2/p' >>"$results" || true
  else
    "$program" --gtest_filter='fault_*' --gtest_list_tests |
      awk '/^[^ ]/ { suite = $1; next } { print suite $1, "listed", 0 }' >>"$results"
  fi
done

awk '
  /^#/ || !NF { next }
  kind == "open" { id = $1; $1 = ""; open[id] = $0; next }
  kind == "results" { test[++tests] = $1; result[tests] = $2; ms[tests] = $3; next }
  {
    rows++
    id = $1
    if ($3 == "n/a") { reason = $0; sub(/^.*n\/a /, "", reason)
      printf "%-8s %-62s n/a: %s\n", id, "", reason; next }
    area = tolower(substr(id, 1, index(id, "-") - 1))
    stem = "fault_" area "." tolower(id) "_" $2
    gsub("-", "_", stem)
    n = NF > 2 ? NF - 2 : 1
    for (v = 1; v <= n; v++) {
      variant = NF > 2 ? $(v + 2) : "-"
      found = 0
      for (t = 1; t <= tests; t++) {
        if (NF > 2 && variant != "-" ? index(test[t], stem "_" variant) == 1 :
            (NF > 2 ? test[t] == stem : index(test[t], stem) == 1)) {
          found = 1
          printf "%-8s %-62s %s (%d ms)\n", id, test[t], result[t], ms[t]
          if (result[t] == "FAILED") failed++
          else if (result[t] == "skipped") skipped++
          else passed++
        }
      }
      if (!found) {
        missing++
        label = variant == "-" ? "" : " (" variant ")"
        printf "%-8s %-62s NO TEST%s\n", id label, "", (id in open) ? ":" open[id] : ""
      }
    }
  }
  END {
    printf "%d rows: %d tests passed, %d failed, %d skipped; %d rows or variants have no test\n",
      rows, passed, failed, skipped, missing
    exit failed > 0 || missing > 0
  }' kind=results "$results" kind=open "$here/scenarios_open.txt" kind=rows "$here/scenarios.txt"

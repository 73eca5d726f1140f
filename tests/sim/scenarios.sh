#!/bin/sh
# scenarios.sh [--list] BUILD: runs the tests of the scenario catalogue by ctest and prints one
# line per row, variant and test: id, test, result. With --list nothing is run. Ends with 1 when a
# row has no test or a test fails.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
run=1
if [ "${1-}" = --list ]; then run=0 && shift; fi
[ $# -eq 1 ] || { echo "scenarios.sh [--list] BUILD" >&2 && exit 2; }
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# Tests are known by their names, whatever their suites; others are named in the list by =NAME.
list=$here/scenarios.txt
areas=$(sed -n -E 's/^([A-Z]+)-.*/\1/p' "$list" | sort -u | tr 'A-Z' 'a-z' | paste -s -d '|')
others=$(grep -o '=[^ ]*' "$list" | sed 's/=//; s/\./\\./g' | sort -u | paste -s -d '|')
regex="\\.($areas)_[0-9][0-9]_|^(${others:-none})\$"

# One "name result seconds" per test.
if [ $run = 1 ]; then
  ctest --test-dir "$1" -j "$(nproc)" -R "$regex" 2>/dev/null | awk '
    $2 == "Test" {
      for (i = 3; i <= NF; i++)
        if ($i ~ /:$/) { name = $(i + 1); break }
      verdict = / Passed / ? "ok" : /Skipped/ ? "skipped" : "FAILED"
      print name, verdict, $(NF - 1)
    }' >"$results"
else
  ctest --test-dir "$1" -N -R "$regex" | awk '$1 == "Test" { print $NF, "listed", 0 }' >"$results"
fi

awk '
  function show(id, t) {
    shown++
    printf "%-8s %-66s %s (%s s)\n", id, test[t], result[t], seconds[t]
    if (result[t] == "FAILED") failed++
    else if (result[t] == "skipped") skipped++
    else if (result[t] == "ok") passed++
  }
  /^#/ || !NF { next }
  kind == "open" { id = $1; $1 = ""; open[id] = open[id] $0; next }
  kind == "results" {
    test[++tests] = $1; result[tests] = $2; seconds[tests] = $3
    name[tests] = $1; sub(/^[^.]*\./, "", name[tests])
    next
  }
  {
    rows++
    id = $1
    if ($3 == "n/a") {
      reason = $0; sub(/^.*n\/a /, "", reason)
      printf "%-8s %-66s n/a: %s\n", id, "", reason
      next
    }
    stem = tolower(id) "_" $2
    sub("-", "_", stem)
    variants = 0
    others = 0
    for (i = 3; i <= NF; i++)
      if ($i ~ /^=/) others++; else variants++
    for (i = 3; i <= NF || i == 3 && !variants; i++) {
      shown = 0
      if (i > NF || $i ~ /^=/ && !variants && !others) variant = "-"
      else variant = $i
      for (t = 1; t <= tests; t++) {
        if (variant ~ /^=/) hit = test[t] == substr(variant, 2)
        else if (variant == "-") hit = variants ? name[t] == stem : index(name[t], stem) == 1
        else hit = index(name[t], stem "_" variant) == 1
        if (hit) show(id, t)
      }
      if (!shown) {
        missing++
        label = id (variant == "-" ? "" : " (" variant ")")
        printf "%-75s NO TEST%s\n", label, (id in open) ? ":" open[id] : ""
      }
    }
  }
  END {
    printf "%d rows: %d tests passed, %d failed, %d skipped; %d rows or variants have no test\n",
      rows, passed, failed, skipped, missing
    exit failed > 0 || missing > 0
  }' kind=results "$results" kind=open "$here/scenarios_open.txt" kind=rows "$list"

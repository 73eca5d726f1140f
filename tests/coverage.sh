#!/bin/sh
# Line and branch coverage of the partition core by the unit and the simulation tests.
#
#   coverage.sh BUILD-DIRECTORY [LINES-MIN BRANCHES-MIN]
#
# Not counted: branches that only an exception of the standard library takes, the failing side of
# contracts, and the bugs that tests put back (planted). Lists what was missed. Exit code 1 below
# the minimum, in percent.

set -eu
build=$(CDPATH='' cd -- "$1" && pwd)
lines_min=${2:-95}
branches_min=${3:-90}
cd "$build" # sources are named from here

find . -name 'partition_core*.gcda' -path '*partita_actors*' | sort >coverage.data
if [ ! -s coverage.data ]; then
  echo "coverage.sh: no data in $build; were the tests run?" >&2
  exit 2
fi
while read -r each; do
  gcov -b -c -t "$each" 2>/dev/null
done <coverage.data | awk -v lines_min="$lines_min" -v branches_min="$branches_min" '
  # "   count: line:source", "branch  n taken count (note)", and a header that names the source
  function base(path) { sub(/.*\//, "", path); return path }
  /^ *-: *0:Source:/ {
    path = $0
    sub(/^[^S]*Source:/, "", path)
    ours = path ~ /partition_core[a-z_]*\.cpp$/
    next
  }
  !ours { next }
  /^ *[-#=0-9*]+: *[0-9]+:/ {
    split($0, part, ":")
    count = part[1]; number = part[2] + 0
    gsub(/[ *]/, "", count)
    text = $0; sub(/^[^:]*:[^:]*:/, "", text)
    in_contract = in_contract_until_end || text ~ /(PARTITA_(ASSERT|EXPECTS|CONTRACT_)|planted\()/
    in_contract_until_end = in_contract && text !~ /;[ \t]*$/
    if (count == "-" || number == 0) next
    file = base(path)
    ++lines[file]
    if (count ~ /^[#=]/) missed[file] = missed[file] " " number; else ++covered[file]
    next
  }
  /^branch/ && !in_contract && !/\(throw\)/ {
    ++branches[file]
    if (/never executed/ || / taken 0( |$)/) gaps[file] = gaps[file] " " number; else ++taken[file]
  }
  END {
    for (file in lines) {
      all_lines += lines[file]; all_covered += covered[file]
      all_branches += branches[file]; all_taken += taken[file]
      printf "%-34s lines %5.1f %%  branches %5.1f %%\n", file,
        100 * covered[file] / lines[file],
        branches[file] ? 100 * taken[file] / branches[file] : 100 | "sort"
      if (missed[file] != "") printf "%-34s lines missed%s\n", file, missed[file] | "sort"
      if (gaps[file] != "") printf "%-34s branches missed in%s\n", file, gaps[file] | "sort"
    }
    close("sort")
    line_part = 100 * all_covered / all_lines
    branch_part = 100 * all_taken / all_branches
    printf "partition core: %.1f %% of %d lines, %.1f %% of %d branches\n", line_part, all_lines,
      branch_part, all_branches
    exit line_part < lines_min || branch_part < branches_min
  }'

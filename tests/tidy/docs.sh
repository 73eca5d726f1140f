#!/bin/sh
# Keeps README.md and docs/ true: every fenced code block says where it is compiled or run, by a
# comment on the line before it.
#
#   <!-- file: examples/01_hello.cpp -->   the block stands in that file, indented or not
#   <!-- run -->                           `docs.sh run` executes the block from the root
#   <!-- dev -->                           each line calls ./dev with a verb that ./dev help lists
#   <!-- text -->                          a picture, a layout or output: not code
#
#   docs.sh check [ROOT]                   one line per block that breaks its promise
#   docs.sh run DOCUMENT BUILD-DIRECTORY   runs the "run" blocks in order, in one shell

set -eu
mode=${1-check}

# Prints one block per file $work/N with its marker in $work/N.marker and its place in
# $work/N.place.
split_blocks() {
  awk -v work="$2" -v document="$1" '
    /^[ \t]*```/ && !inside {
      inside = 1
      count++
      marker = previous ~ /^<!-- .* -->$/ ? substr(previous, 6, length(previous) - 9) : ""
      print marker >(work "/" count ".marker")
      print document ":" NR >(work "/" count ".place")
      printf "" >(work "/" count)
      next
    }
    /^[ \t]*```/ && inside { inside = 0; previous = ""; next }
    inside { print >(work "/" count); next }
    { if ($0 != "") previous = $0 }
    END { print count + 0 >(work "/count") }' "$1"
}

# Whether the lines of $1 stand next to each other in $2, leading blanks aside.
stands_in() {
  awk '
    { sub(/^[ \t]+/, ""); sub(/[ \t]+$/, "") }
    NR == FNR { want[++wanted] = $0; next }
    { have[++held] = $0 }
    END {
      for (start = 1; start + wanted - 1 <= held; ++start) {
        for (i = 1; i <= wanted && have[start + i - 1] == want[i]; ++i) continue
        if (i > wanted) exit 0
      }
      exit 1
    }' "$1" "$2"
}

check_block() {
  block=$1
  place=$(cat "$block.place")
  marker=$(cat "$block.marker")
  case $marker in
    file:*)
      path=${marker#file: }
      if [ ! -f "$path" ]; then
        echo "$place: no file $path"
      elif ! stands_in "$block" "$path"; then
        echo "$place: this block does not stand in $path"
      fi
      ;;
    dev)
      sed 's/ *#.*//' "$block" | while read -r program verb _; do
        [ -n "$program" ] || continue
        if [ "$program" != ./dev ] || ! ./dev help | grep -q "^ *\(\./dev \)\{0,1\}$verb\b"; then
          echo "$place: not a verb of dev: $program $verb"
        fi
      done
      ;;
    run | text) ;;
    *) echo "$place: a block without a marker of tests/tidy/docs.sh" ;;
  esac
}

check() {
  cd "${1:-$(dirname -- "$0")/../..}"
  find README.md docs -name '*.md' 2>/dev/null | sort | while read -r document; do
    work=$(mktemp -d)
    split_blocks "$document" "$work"
    number=1
    while [ $number -le "$(cat "$work/count")" ]; do
      check_block "$work/$number"
      number=$((number + 1))
    done
    rm -rf "$work"
  done
}

run() {
  document=$1 build=$2
  cd "$(dirname -- "$0")/../.."
  work=$(mktemp -d)
  split_blocks "$document" "$work"
  echo 'set -eu' >"$work/script"
  number=1
  while [ $number -le "$(cat "$work/count")" ]; do
    if [ "$(cat "$work/$number.marker")" = run ]; then
      echo "echo '--- $(cat "$work/$number.place")'"
      sed "s#build/release#$build#g" "$work/$number"
    fi >>"$work/script"
    number=$((number + 1))
  done
  # A session of its own, so that what a block left in the background ends with it.
  setsid sh "$work/script" &
  status=0
  wait $! || status=$?
  kill -- "-$!" 2>/dev/null || true
  rm -rf "$work"
  return $status
}

case $mode in
  check)
    found=$(check "${2-}")
    [ -z "$found" ] || { echo "$found" && exit 1; }
    echo "every code block of the documents is compiled, run or marked as text"
    ;;
  run) run "$2" "$3" ;;
  *) echo "docs.sh: unknown mode '$mode'" >&2 && exit 2 ;;
esac

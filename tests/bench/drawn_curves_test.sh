#!/bin/sh
# The kept figures can be drawn, twice the same, with their words as text; one that lacks a client
# can not.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
python=''
for each in python3 /usr/bin/python3; do
  if "$each" -c 'import matplotlib' 2>/dev/null; then python=$each && break; fi
done
[ -n "$python" ] || { echo "skipped: no matplotlib"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# draw JSON-DIRECTORY OUTPUT
draw() { "$python" "$root/bench/draw_curves.py" --json "$1" --output "$2" >"$work/said" 2>&1; }

for output in first second; do
  draw "$root/bench/figures" "$work/$output" || { cat "$work/said" && exit 1; }
done
diff -r "$work/first" "$work/second" || { echo "the same JSON gives other bytes" && exit 1; }
for picture in "$work"/first/*.svg; do
  for word in partita librdkafka 'CPU per record'; do
    grep -q "<text.*$word" "$picture" || { echo "$picture has no text '$word'" && exit 1; }
  done
  [ -e "$root/docs/curves/$(basename "$picture")" ] || { echo "$picture is not kept" && exit 1; }
done

mkdir "$work/holed"
sed 's/"librdkafka": \[/"nobody": [/' "$root/bench/figures/lanes.json" >"$work/holed/lanes.json"
if draw "$work/holed" "$work/third"; then echo "a hole was drawn over" && exit 1; fi

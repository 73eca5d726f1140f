#!/bin/sh
# The scaling curves in the tree: each measured curve is drawn, each picture was measured, and
# docs/performance.md shows it with the command that makes it.
set -eu
cd "$(dirname -- "$0")/../.."
breaches=$(
  for path in bench/figures/*.json; do
    name=$(basename "$path" .json)
    [ -e "docs/curves/$name.svg" ] || echo "$path is not drawn: docs/curves/$name.svg"
  done
  for path in docs/curves/*; do
    name=$(basename "$path" .svg)
    [ -e "bench/figures/$name.json" ] || echo "$path is drawn from nothing that is kept"
    grep -q "^!\[.*\](curves/$name\.svg)$" docs/performance.md ||
      echo "$path is not shown in docs/performance.md"
    grep -q "^\./dev bench curves --only $name\b" docs/performance.md ||
      echo "$path: docs/performance.md does not have its command"
  done
  sed -n 's#^!\[.*\](\(curves/.*\))$#docs/\1#p' docs/performance.md | while read -r path; do
    [ -e "$path" ] || echo "docs/performance.md shows $path, which is not there"
  done
)
[ -z "$breaches" ] || { echo "$breaches" && exit 1; }
echo "every curve that is kept is drawn and shown"

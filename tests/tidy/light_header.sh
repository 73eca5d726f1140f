#!/bin/sh
# <partita/producer.hpp> is read by every source of a user's program: it must not bring streams,
# locales, algorithms or function objects along, which cost more to compile than all of ours.
#
#     light_header.sh COMPILER
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
read_files=$(echo '#include <partita/producer.hpp>' |
  "$1" -std=c++20 -x c++ -I"$top/api" -M -MT header - | tr -d '\\' | tr ' ' '\n')
echo "$read_files" | grep -q 'partita/producer\.hpp$' # the list is one
names='algorithm|functional|iostream|istream|locale|map|memory|regex|sstream|unordered_map'
heavy=$(echo "$read_files" | grep -E "/c\+\+/.*/($names)\$") || true
[ -z "$heavy" ] || {
  echo "<partita/producer.hpp> brings along:" $heavy
  exit 1
}

#!/bin/sh
# The same seeds give the same traces in every process, however they are spread over processes
# (I15).
#
#   repeats_test.sh SIMULATE

set -eu
simulate=$1

digest() { "$simulate" --seeds "$2" --jobs "$1" | sed -n 's/.*; digest \([0-9a-f]*\)$/\1/p'; }

first=$(digest 1 1..300)
again=$(digest 1 1..300)
spread=$(digest 3 1..300)
other=$(digest 1 2..301)
echo "one process $first, again $again, three processes $spread, other seeds $other"
[ -n "$first" ] && [ "$first" = "$again" ] && [ "$first" = "$spread" ] && [ "$first" != "$other" ]

#!/bin/sh
# mutants_test.sh SIMULATE TABLE: the bugs put back that the table in docs/testing.md says are
# caught early still are, in seconds where the whole table takes minutes.
set -eu
simulate=$1
table=$2
early=300   # what the table says
limit=1500  # what is allowed since: any change of the histories moves the first seed

rows=$(awk -F ' *[|] *' -v early="$early" '
  /^\| mutant / { inside = 1; next }
  inside && !/^\|/ { exit }
  inside && $5 ~ /^[0-9]+$/ && $5 <= early && $6 !~ /hang/ { print $2 }' "$table")
failed=0 caught=0
for name in $rows; do
  code=0
  "$simulate" --mutant "$name" --seeds "1..$limit" >/dev/null || code=$?
  if [ "$code" = 1 ]; then
    caught=$((caught + 1))
  else
    echo "$name: exit code $code within $limit seeds"
    failed=$((failed + 1))
  fi
done

# Without the ledger a reused sequence shows in the log, and not in what was told.
control=$("$simulate" --mutant reuse_tuple,ledger_off --seeds 1..2000 --all |
  awk '$1 == "anomaly" { print $2 }' | sort -u)
if echo "$control" | grep -qx I1 && ! echo "$control" | grep -qx I3; then
  caught=$((caught + 1))
else
  echo "control: broken are" $control && failed=$((failed + 1))
fi
echo "$caught caught, $failed not"
[ "$failed" = 0 ] && [ "$caught" -ge 20 ]

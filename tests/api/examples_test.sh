#!/bin/sh
# Runs every example against embedded brokers, as a reader would.
#
#     examples_test.sh PATH-TO-PARTITA EXAMPLES-DIRECTORY
set -u
partita=$1 examples=$2
work=$(mktemp -d)
failures=0
cluster=

end() {
  [ -z "$cluster" ] || kill "$cluster" 2>/dev/null
  rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM

mkfifo "$work/ready"
"$partita" cluster --brokers 3 --port 0 >"$work/ready" 2>"$work/cluster.err" &
cluster=$!
read -r first <"$work/ready" || { cat "$work/cluster.err" >&2; exit 1; }

for example in "$examples"/[0-9]*; do
  [ -x "$example" ] || continue
  name=$(basename "$example")
  timeout 60 "$example" "${first#bootstrap.servers=}" >"$work/out" 2>&1
  code=$?
  if [ $code = 0 ]; then
    echo "$name: passed"
  else
    failures=$((failures + 1))
    echo "FAILED: $name: exit code $code" >&2
    sed 's/^/    /' "$work/out" >&2
  fi
done
[ "$failures" = 0 ]

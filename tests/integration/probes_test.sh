#!/bin/sh
# Puts the raw-request probes that were recorded on Apache Kafka to the simulated cluster: both must
# answer the same, for every version that has recorded answers.
#
#   probes_test.sh PROGRAM [VERSION ...]
#
# PARTITA_PROBES names the folder of the probes; without it there is one loud line and exit code 77.
# MULTI-08 is left out: it needs a broker that takes a second to check 1.6 GB of gzipped zeros.

set -eu
program=$1
shift
probes=${PARTITA_PROBES-}
if [ ! -f "$probes/probe.py" ]; then
  echo "SKIPPED: the protocol probes are not here (PARTITA_PROBES names their folder)" >&2
  exit 77
fi
[ $# -gt 0 ] || set -- 4.4.0 4.2.0 3.9.2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each group on a cluster of its own, all at once: most of their time is waiting.
run_group() {
  version=$1
  group=$2
  name=$work/$version-$group
  "$program" cluster --brokers 3 --port 0 --control-port 0 --emulate "$version" \
    --producer-id-expiration-check-interval-ms 1000 >"$name.cluster" 2>"$name.errors" &
  cluster=$!
  trap 'kill $cluster 2>/dev/null || true' EXIT
  until grep -q '^control=' "$name.cluster" 2>/dev/null; do
    kill -0 $cluster 2>/dev/null || { cat "$name.errors" && return 1; }
    sleep 0.1
  done
  bootstrap=$(sed -n 's/^bootstrap.servers=\([^,]*\).*/\1/p' "$name.cluster")
  control=$(sed -n 's/^control=//p' "$name.cluster")
  failed=0
  python3 "$probes/probe.py" --bootstrap "$bootstrap" --only "$group" --skip MULTI-08 \
    --cluster-control "$program cluster tell --control $control" \
    --expect "$probes/expected/kafka-$version.json" >"$name.seen" 2>&1 || failed=1
  return $failed
}

started=
for version in "$@"; do
  for group in SEQ DEDUP ORDER ACKS CONN RESP META PID TXN LOG MULTI; do
    (run_group "$version" "$group") &
    started="$started $!:$version-$group"
  done
done
failed=0
for one in $started; do
  result=0
  wait "${one%%:*}" || result=1
  name=${one#*:}
  echo "$name: $(tail -n 1 "$work/$name.seen" 2>/dev/null || echo 'did not run')"
  if [ $result -ne 0 ]; then
    failed=1
    grep -v ' pass$' "$work/$name.seen" || true
  fi
done
exit $failed

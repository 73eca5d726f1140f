#!/bin/sh
# Puts the raw-request probes that were recorded on Apache Kafka 4.4.0 to the simulated cluster:
# both must answer the same.
#
#   probes_test.sh PROGRAM
#
# PARTITA_PROBES names the folder of the probes; without it there is one loud line and exit code 77.

set -eu
program=$1
probes=${PARTITA_PROBES-}
if [ ! -f "$probes/probe.py" ]; then
  echo "SKIPPED: the protocol probes are not here (PARTITA_PROBES names their folder)" >&2
  exit 77
fi
work=$(mktemp -d)
"$program" cluster --brokers 3 --port 0 >"$work/cluster" 2>"$work/errors" &
cluster=$!
trap 'kill $cluster 2>/dev/null; rm -rf "$work"' EXIT
until grep -q '^bootstrap.servers=' "$work/cluster"; do
  kill -0 $cluster 2>/dev/null || { cat "$work/errors" && exit 1; }
  sleep 0.1
done
bootstrap=$(sed -n 's/^bootstrap.servers=\([^,]*\).*/\1/p' "$work/cluster")
python3 "$probes/probe.py" --bootstrap "$bootstrap" --expect "$probes/expected/kafka-4.4.0.json" \
  --only SEQ --only DEDUP --only ACKS --only RESP --only META --only PID

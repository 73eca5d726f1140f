#!/bin/sh
# One point of each scaling curve with few records, and what becomes of a point that fails.
#
#   curves_test.sh PROGRAMS
set -eu
programs=$(CDPATH='' cd -- "$1" && pwd)
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$*"
  cat "$work/said" "$work/errors"
  exit 1
}
# curves PROGRAMS OPTION...
curves() {
  from=$1
  shift
  python3 "$root/bench/curves.py" --programs "$from" --json "$work/json" --trial --rounds 1 "$@" \
    >"$work/said" 2>"$work/errors"
}

curves "$programs" || fail "a point that should be measured was not"
for name in partitions brokers waiters record_size backlog lanes round_trip; do
  python3 - "$work/json/$name.json" <<'END' || fail "$name.json is not complete"
import json, sys
told = json.load(open(sys.argv[1]))
assert told["machine"]["cpu"] and told["machine"]["cores"] and told["machine"]["kernel"]
assert told["command"].startswith("./dev bench curves --only " + told["curve"])
point, = told["points"]
for client in ("partita", "librdkafka"):
    sample, = point["samples"][client]
    assert sample["cpu_ns"] > 0 and sample["memory_bytes"] > 0 and sample["answered"] > 0
END
done

# A client that ends with an error, one that counts wrongly, and one that tells no memory.
broken_client() {
  rm -rf "$work/broken" "$work/json"
  mkdir "$work/broken"
  ln -s "$programs/null_broker" "$programs/load_partita" "$work/broken"
  printf '#!/bin/sh\n%s\n' "$1" >"$work/broken/load_rdkafka"
  chmod +x "$work/broken/load_rdkafka"
  if curves "$work/broken" --only lanes; then fail "not noticed: $1"; fi
  grep -q "lanes at 2, round 1 of 1, librdkafka: $2" "$work/errors" || fail "not named: $1"
  [ ! -e "$work/json/lanes.json" ] || fail "a curve with a hole was written: $1"
}
broken_client 'exit 3' 'ended with 3'
broken_client 'printf "answered 5\ncpu_ns 1\nmemory_bytes 1\n"' '5.0 answered, 0 appended'
broken_client 'printf "answered 0\ncpu_ns 1\n"' 'tells no memory_bytes'
if curves "$programs" --only nonsense; then fail "a curve that does not exist was measured"; fi

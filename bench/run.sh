#!/bin/sh
# The benchmarks of a finished build, against the targets.
#
#     bench/run.sh BUILD-DIRECTORY [OPTION...]           compile, round_trip, saturated, heap,
#                                                        pipelining, micro
#     bench/run.sh BUILD-DIRECTORY compare [OPTION...]   the cases P1 to P11 with all clients that
#                                                        can be built here; P12 if it is asked for
#
#     --rounds N         interleaved rounds (5)
#     --only NAME,...    these of the above
#     --records N        of a run that is flat out (2,000,000)
#     --json FILE        all samples, for a program
#
# A target that is missed is said and is no error: a loaded machine misses some.

set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
programs=$(CDPATH='' cd -- "$1" && pwd)/bench
cluster=$root/tests/integration/kafka_cluster.sh
kafka_version=4.4.0
shift

only=''
previous=''
for argument in "$@"; do
  if [ "$previous" = --only ]; then only=$argument; fi
  previous=$argument
done

# Whether --only names $1.
is_wanted() { case ,$only, in *,"$1",*) true ;; *) false ;; esac }

# run_compare OPTION...: what was missed is printed; only what did not run is an error
run_compare() {
  echo "==> load of the machine: $(cut -d ' ' -f 1-3 /proc/loadavg) on $(nproc) cores"
  code=0
  "$programs/compare" --headers "$root/api" "$@" || code=$?
  if [ "$code" -gt 1 ]; then exit "$code"; fi
}

# Says the option of compare for franz-go, or on stderr why there is none.
franz_client() {
  if ! command -v go >/dev/null; then
    echo "franz-go is left out: go is not installed" >&2
  elif ! (cd "$root/bench/peers/franz" && go build -o "$programs/load_franz" .) >&2; then
    echo "franz-go is left out: its module could not be fetched or built" >&2
  else
    echo "franz-go=$programs/load_franz"
  fi
}

java_client() {
  if ! command -v javac >/dev/null; then
    echo "Java is left out: javac is not installed" >&2
    return
  fi
  if ! jars=$("$cluster" fetch $kafka_version); then
    echo "Java is left out: its jars could not be fetched" >&2
    return
  fi
  path=$(awk -v root="$jars" '{ printf "%s%s/%s", (NR > 1 ? ":" : ""), root, $2 }' \
    "$jars/complete")
  mkdir -p "$programs/java"
  if ! javac -cp "$path" -d "$programs/java" "$root/bench/peers/java/Load.java" >&2; then
    echo "Java is left out: its program does not compile" >&2
    return
  fi
  log=-Dorg.slf4j.simpleLogger.defaultLogLevel=error
  echo "Java=java $log -cp $programs/java:$path Load"
}

compare_clients() {
  if [ -z "$only" ]; then set -- --only P1,P2,P3,P4,P5,P6,P7,P8,P9,P10,P11 "$@"; fi
  franz=$(franz_client)
  java=$(java_client)
  if is_wanted P12; then
    brokers=${PARTITA_RUN_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/partita/run}/bench.$$
    trap '"$cluster" -d "$brokers" stop' EXIT
    trap 'exit 130' INT TERM
    echo "==> starting three brokers of Apache Kafka"
    set -- "$@" --kafka "$("$cluster" -d "$brokers" start -n 3 -v $kafka_version \
      -s num.partitions=12 -o $$)"
  fi
  run_compare ${franz:+--client "$franz"} ${java:+--client "$java"} "$@"
}

if [ "${1-}" = compare ]; then
  shift
  compare_clients "$@"
  exit
fi
if [ "$only" != micro ]; then run_compare "$@"; fi
if [ -z "$only" ] || [ "$only" = micro ]; then
  if [ -x "$programs/micro_bench" ]; then
    "$programs/micro_bench"
  else
    echo "==> no micro_bench: Google Benchmark is missing"
  fi
fi

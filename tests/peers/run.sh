#!/bin/sh
# Builds what is there of the other clients and takes all through the fault scripts.
#
#     run.sh BUILD-DIRECTORY [--only ID]
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
build=$(CDPATH='' cd -- "$1" && pwd)
shift
version=4.4.0
jars=${XDG_CACHE_HOME:-$HOME/.cache}/partita/kafka/$version/jars
programs=$build/tests/peers

set -- "$@" "partita=$build/partita"
if [ -x "$programs/peer_rdkafka" ]; then
  set -- "$@" "librdkafka=$programs/peer_rdkafka"
else
  echo "librdkafka is left out: its header was not found" >&2
fi
if command -v go >/dev/null && (cd "$here/franz" && go build -o "$programs/peer_franz" .); then
  set -- "$@" "franz-go=$programs/peer_franz"
else
  echo "franz-go is left out: no go, or its module could not be fetched" >&2
fi
if command -v javac >/dev/null && "$here/../integration/kafka_cluster.sh" fetch $version >/dev/null
then
  path=$(awk -v root="$jars" '{ printf "%s%s/%s", (NR > 1 ? ":" : ""), root, $2 }' "$jars/complete")
  mkdir -p "$programs/java"
  javac -cp "$path" -d "$programs/java" "$here/java/Peer.java"
  log=-Dorg.slf4j.simpleLogger.defaultLogLevel=off
  set -- "$@" "Java=java -XX:TieredStopAtLevel=1 $log -cp $programs/java:$path Peer"
else
  echo "the Java client is left out: no javac, or its jars could not be fetched" >&2
fi
exec "$programs/peers" "$@"

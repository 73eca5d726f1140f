#!/bin/sh
# Runs clusters of real Apache Kafka brokers on loopback, for tests and for `dev kafka`.
#
#   kafka_cluster.sh fetch VERSION            jars into the cache, checked by kafka-VERSION.jars
#   kafka_cluster.sh start [-v VERSION] [-n BROKERS] [-p PORT] [-o OWNER-PID] [-x] [-s key=value]...
#                                             prints the bootstrap servers once all brokers answer
#   kafka_cluster.sh pause|cont|kill|term|restart BROKER-ID
#   kafka_cluster.sh bootstrap                prints them again
#   kafka_cluster.sh topics ARGUMENT...       Kafka's own topic command
#   kafka_cluster.sh acls ARGUMENT...         Kafka's own command for rights, of version 4
#   kafka_cluster.sh console-consumer ARGUMENT...
#   kafka_cluster.sh stop                     ends the brokers and deletes what they wrote
#   kafka_cluster.sh stop-all                 the same for every cluster below PARTITA_RUN_DIR
#
# Each command but fetch and stop-all takes -d DIRECTORY first; without it, PARTITA_KAFKA_DIR or
# "default" below PARTITA_RUN_DIR is meant. With -o the cluster ends when that process has ended.
# With -x broker I (from 1) listens on PORT+19+I too, for a proxy of the caller's on PORT+29+I:
# clients that come by this listener are told the proxy's addresses.
# Versions: those with a kafka-VERSION.jars beside this file. 3.9 and 4 run in KRaft mode, 2.8 with
# a ZooKeeper. Needs: java, kcat; for the first fetch mvn.

set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/partita
run_dir=${PARTITA_RUN_DIR:-$cache/run}
versions=$(for list in "$here"/kafka-*.jars; do basename "$list" .jars; done | sed 's/^kafka-//' |
  sort -rV | tr '\n' ' ')
cluster_id=cGFydGl0YS10ZXN0LTAwMQ
seconds_until_up=240

fail() {
  echo "kafka_cluster: $*" >&2
  exit 1
}

# --- the jars -------------------------------------------------------------------------------------

jars_of() { echo "$cache/kafka/$1/jars"; }

# A pom whose only dependencies are the pinned jars, so that nothing unpinned is ever fetched.
pom_of_pinned_jars() {
  echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
  echo '<groupId>partita</groupId><artifactId>kafka-jars</artifactId><version>1</version>'
  echo '<packaging>pom</packaging><dependencies>'
  awk '{
    parts = split($2, part, "/")
    group = part[1]
    for (i = 2; i <= parts - 3; ++i) group = group "." part[i]
    printf "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>", \
      group, part[parts - 2], part[parts - 1]
    print "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>" \
      "</exclusions></dependency>"
  }' "$1"
  echo '</dependencies></project>'
}

fetch() {
  version=$1
  pinned=$here/kafka-$version.jars
  [ -f "$pinned" ] || fail "no Kafka $version; known: $versions"
  jars=$(jars_of "$version")
  if [ -f "$jars/complete" ] && cmp -s "$jars/complete" "$pinned"; then
    echo "$jars"
    return
  fi
  command -v mvn >/dev/null || fail "Kafka $version is not in $jars and mvn is not installed"
  work=$cache/kafka/$version/fetch.$$
  mkdir -p "$work"
  pom_of_pinned_jars "$pinned" >"$work/pom.xml"
  if ! (cd "$work" &&
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
      -DoutputDirectory=jars -Dmdep.useRepositoryLayout=true) >"$work/log" 2>&1; then
    { grep -m 1 ERROR "$work/log" || tail -n 1 "$work/log"; } | cut -c 1-400 >&2
    fail "Kafka $version could not be fetched; the log is $work/log"
  fi
  if ! (cd "$work/jars" && sha256sum --quiet -c "$pinned") >&2; then
    fail "Kafka $version: a fetched jar is not the pinned one; they are in $work/jars"
  fi
  cp "$pinned" "$work/jars/complete"
  rm -rf "$jars"
  mv "$work/jars" "$jars" && rm -rf "$work"
  echo "$jars"
}

class_path() {
  jars=$(jars_of "$1")
  awk -v root="$jars" '{ printf "%s%s/%s", (NR > 1 ? ":" : ""), root, $2 }' "$jars/complete"
}

# --- one cluster ----------------------------------------------------------------------------------

version_of_cluster() { cat "$dir/version"; }
broker_count() { cat "$dir/brokers"; }
port_of() { echo $(($(cat "$dir/port") + $1 - 1)); }
controller_port_of() { echo $(($(cat "$dir/port") + 50 + $1)); }
zookeeper_port() { echo $(($(cat "$dir/port") + 50)); }
ids() { seq 1 "$(broker_count)"; }
uses_zookeeper() { case $(version_of_cluster) in 2.*) true ;; *) false ;; esac }

bootstrap() {
  for id in $(ids); do printf '%s127.0.0.1:%s' "${comma-}" "$(port_of "$id")" && comma=,; done
  echo
}

# Reads the kernel's table of listeners: a port is free when no line of state 0A has it.
port_is_free() {
  hex=$(printf ':%04X' "$1")
  ! cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
    awk -v hex="$hex" '$4 == "0A" && substr($2, length($2) - 4) == hex { found = 1 }
                       END { exit !found }'
}

# The first block of a hundred ports, below the kernel's ephemeral range, in which all we need are
# free. The block depends on our process id, so that two clusters started at once rarely meet.
choose_port() {
  block=$(($$ % 100))
  tries=0
  while [ $tries -lt 100 ]; do
    port=$((20000 + block * 100))
    free=yes
    for offset in 0 1 2 3 4 20 21 22 23 24 30 31 32 33 34 50 51 52 53 54 55; do
      port_is_free $((port + offset)) || free=no
    done
    [ $free = yes ] && echo "$port" && return
    block=$(((block + 1) % 100)) tries=$((tries + 1))
  done
  fail "no free ports"
}

write_common_settings() {
  id=$1
  count=$(broker_count)
  internal=$((count < 3 ? count : 3))
  cat <<END
log.dirs=$dir/node-$id/data
default.replication.factor=$internal
offsets.topic.replication.factor=$internal
transaction.state.log.replication.factor=$internal
transaction.state.log.min.isr=1
auto.create.topics.enable=true
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=16777216
transaction.state.log.num.partitions=4
offsets.topic.num.partitions=4
log.flush.start.offset.checkpoint.interval.ms=3600000
producer.id.expiration.check.interval.ms=1000
END
}

write_settings() {
  id=$1
  mkdir -p "$dir/node-$id/data"
  {
    write_common_settings "$id"
    if uses_zookeeper; then
      echo "broker.id=$id"
      echo "listeners=PLAINTEXT://127.0.0.1:$(port_of "$id")"
      echo "zookeeper.connect=127.0.0.1:$(zookeeper_port)"
      echo "zookeeper.session.timeout.ms=5000"
    else
      voters=$(for v in $(ids); do
        printf '%s@127.0.0.1:%s,' "$v" "$(controller_port_of "$v")"
      done)
      public=PLAINTEXT://127.0.0.1:$(port_of "$id")
      echo "process.roles=broker,controller"
      echo "broker.session.timeout.ms=5000"
      echo "node.id=$id"
      advertised=$public
      if [ -f "$dir/proxied" ]; then
        public=$public,PROXIED://127.0.0.1:$(($(port_of "$id") + 20))
        advertised=$advertised,PROXIED://127.0.0.1:$(($(port_of "$id") + 30))
        map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT
        echo "listener.security.protocol.map=$map"
      fi
      echo "listeners=$public,CONTROLLER://127.0.0.1:$(controller_port_of "$id")"
      echo "advertised.listeners=$advertised"
      echo "controller.listener.names=CONTROLLER"
      echo "controller.quorum.voters=${voters%,}"
    fi
    cat "$dir/settings"
  } >"$dir/node-$id/server.properties"
}

# Kafka's storage tool formats one directory; its result serves all nodes, each with its node id.
format_storage() {
  for id in $(ids); do
    data=$dir/node-$id/data
    if [ "$id" = 1 ]; then
      run_java "$(version_of_cluster)" kafka.tools.StorageTool format -t "$cluster_id" \
        -c "$dir/node-1/server.properties" >"$dir/format.log" 2>&1 ||
        fail "formatting failed: $(tail -n 3 "$dir/format.log")"
    else
      cp -R "$dir"/node-1/data/. "$data/"
      sed "s/^node.id=.*/node.id=$id/; /^directory.id=/d" "$dir/node-1/data/meta.properties" \
        >"$data/meta.properties"
    fi
  done
}

run_java() {
  java_version=$1
  shift
  java -Xms32m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$(class_path "$java_version")" -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
    -Dlog4j.configuration="file:$dir/quiet.properties" \
    "$@"
}

# Each process leads a session of its own: paused (SIGSTOP) members of an orphaned process group
# would be continued by the kernel when the shell that started them ends.
launch() {
  name=$1
  shift
  echo launched >>"$dir/$name/log"
  setsid java -Xms64m -Xmx384m -XX:+UseSerialGC -cp "$(class_path "$(version_of_cluster)")" \
    -Dorg.slf4j.simpleLogger.defaultLogLevel=info -Dorg.slf4j.simpleLogger.showDateTime=true \
    -Dlog4j.configuration="file:$dir/log4j.properties" "$@" \
    >>"$dir/$name/log" 2>&1 </dev/null &
  echo $! >"$dir/$name/pid"
}

launch_broker() { launch "node-$1" kafka.Kafka "$dir/node-$1/server.properties"; }

launch_zookeeper() {
  mkdir -p "$dir/zookeeper/data"
  cat >"$dir/zookeeper/zookeeper.properties" <<END
dataDir=$dir/zookeeper/data
clientPort=$(zookeeper_port)
clientPortAddress=127.0.0.1
admin.enableServer=false
maxClientCnxns=0
END
  launch zookeeper org.apache.zookeeper.server.quorum.QuorumPeerMain \
    "$dir/zookeeper/zookeeper.properties"
}

# A process id counts only while it is still ours: ids are reused.
pid_of() {
  pid=$(cat "$dir/$1/pid" 2>/dev/null) || return 1
  grep -qF "$dir/$1/" "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
}

# True once the broker given as second argument lists the first as a member of the cluster.
is_listed() {
  kcat -b "127.0.0.1:$(port_of "$2")" -L -m 2 -X log_level=0 2>/dev/null |
    grep -q "^  broker $1 at "
}

wait_until_up() {
  deadline=$(($(date +%s) + seconds_until_up))
  for id in "$@"; do
    until is_listed "$id" "$id"; do
      if ! pid_of "node-$id" >/dev/null; then
        # ZooKeeper keeps a killed broker's registration for its session timeout, and the next
        # incarnation ends when it finds it.
        awk '/^launched$/ { found = 0 } /NodeExists/ { found = 1 } END { exit !found }' \
          "$dir/node-$id/log" || fail "broker $id ended: $(tail -n 5 "$dir/node-$id/log")"
        launch_broker "$id"
      fi
      [ "$(date +%s)" -lt "$deadline" ] || fail "broker $id does not answer: $dir/node-$id/log"
      sleep 0.2
    done
  done
}

wait_until_gone() {
  deadline=$(($(date +%s) + 60))
  while pid_of "$1" >/dev/null; do
    [ "$(date +%s)" -lt "$deadline" ] || fail "$1 does not end"
    sleep 0.1
  done
}

end_all() {
  for pid_file in "$dir"/*/pid; do
    [ -f "$pid_file" ] || continue
    name=$(basename "$(dirname "$pid_file")")
    if pid=$(pid_of "$name"); then kill -9 "$pid" 2>/dev/null && wait_until_gone "$name"; fi
  done
}

guard() {
  while kill -0 "$1" 2>/dev/null && [ -f "$dir/version" ]; do sleep 1; done
  [ -f "$dir/version" ] && "$0" -d "$dir" stop
}

start() {
  version=${versions%% *} count=1 port='' owner='' settings='' proxied=''
  while getopts v:n:p:o:s:x option; do
    case $option in
      v) version=$OPTARG ;;
      n) count=$OPTARG ;;
      p) port=$OPTARG ;;
      o) owner=$OPTARG ;;
      s) settings="$settings$OPTARG
" ;;
      x) proxied=yes ;;
      *) fail "start: unknown option" ;;
    esac
  done
  case $count in [1-5]) ;; *) fail "start: one to five brokers, not '$count'" ;; esac
  [ ! -f "$dir/version" ] || fail "a cluster runs in $dir; stop it first"
  command -v java >/dev/null || fail "java is not installed"
  command -v kcat >/dev/null || fail "kcat is not installed"
  fetch "$version" >/dev/null
  mkdir -p "$dir"
  echo "$count" >"$dir/brokers"
  echo "${port:-$(choose_port)}" >"$dir/port"
  printf %s "$settings" >"$dir/settings"
  if [ -n "$proxied" ]; then : >"$dir/proxied"; fi
  echo "log4j.rootLogger=ERROR" >"$dir/quiet.properties"
  printf '%s\n' 'log4j.rootLogger=INFO, out' 'log4j.appender.out=org.apache.log4j.ConsoleAppender' \
    'log4j.appender.out.layout=org.apache.log4j.PatternLayout' \
    'log4j.appender.out.layout.ConversionPattern=%d %p %m (%c{1})%n' >"$dir/log4j.properties"
  echo "$version" >"$dir/version"
  trap 'end_all; rm -f "$dir/version"' EXIT
  for id in $(ids); do write_settings "$id"; done
  if uses_zookeeper; then launch_zookeeper; else format_storage; fi
  for id in $(ids); do launch_broker "$id"; done
  # shellcheck disable=SC2046
  wait_until_up $(ids)
  for id in $(ids); do
    until is_listed "$id" 1; do sleep 0.2; done
  done
  trap - EXIT
  # A process of its own: a function in the background would keep our standard output open, and
  # whoever reads that waits for its end.
  if [ -n "$owner" ]; then setsid "$0" -d "$dir" guard "$owner" >/dev/null 2>&1 </dev/null & fi
  bootstrap
}

signal_broker() {
  pid=$(pid_of "node-$2") || fail "broker $2 is not running"
  kill "-$1" "$pid"
}

# --- commands -------------------------------------------------------------------------------------

dir=${PARTITA_KAFKA_DIR:-$run_dir/default}
if [ "${1-}" = -d ]; then
  dir=$2
  shift 2
fi
[ $# -gt 0 ] || { sed -n '2,22s/^# \{0,1\}//p' "$0" && exit 2; }
command=$1
shift
case $command in
  fetch | start | stop | stop-all) ;;
  *) [ -f "$dir/version" ] || fail "no cluster in $dir" ;;
esac
case $command in
  fetch) fetch "$@" ;;
  start) start "$@" ;;
  bootstrap) bootstrap ;;
  pause) signal_broker STOP "$1" ;;
  cont) signal_broker CONT "$1" ;;
  kill) signal_broker KILL "$1" && wait_until_gone "node-$1" ;;
  term) signal_broker TERM "$1" && wait_until_gone "node-$1" ;;
  restart)
    if pid_of "node-$1" >/dev/null; then fail "broker $1 is still running"; fi
    launch_broker "$1"
    wait_until_up "$1"
    ;;
  topics)
    class=org.apache.kafka.tools.TopicCommand
    if uses_zookeeper; then class=kafka.admin.TopicCommand; fi
    run_java "$(version_of_cluster)" $class --bootstrap-server "$(bootstrap)" "$@"
    ;;
  acls)
    class=org.apache.kafka.tools.AclCommand
    run_java "$(version_of_cluster)" $class --bootstrap-server "$(bootstrap)" "$@"
    ;;
  console-consumer)
    class=org.apache.kafka.tools.consumer.ConsoleConsumer
    if uses_zookeeper; then class=kafka.tools.ConsoleConsumer; fi
    run_java "$(version_of_cluster)" $class --bootstrap-server "$(bootstrap)" "$@"
    ;;
  guard) guard "$1" ;;
  stop)
    end_all
    rm -rf "$dir"
    ;;
  stop-all)
    for version_file in "$run_dir"/*/version; do
      [ -f "$version_file" ] && "$0" -d "$(dirname "$version_file")" stop
    done
    true
    ;;
  *) fail "unknown command '$command'" ;;
esac

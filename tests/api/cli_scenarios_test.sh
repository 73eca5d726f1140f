#!/bin/sh
# Rows CLI of the scenario catalogue that are about the program, against its own brokers.
#
#     cli_scenarios_test.sh PATH-TO-PARTITA cli_04_dead_letter_order_a
set -u
partita=$1
work=$(mktemp -d)
failures=0
running=

end() {
  # shellcheck disable=SC2086
  [ -z "$running" ] || kill -KILL $running 2>/dev/null
  rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM
unset KAFKA_BOOTSTRAP_SERVERS PARTITA_CONFIG
export HOME="$work"

bad() {
  failures=$((failures + 1))
  echo "FAILED: $*" >&2
  sed 's/^/    out: /' "$work/out" >&2
  sed 's/^/    err: /' "$work/err" >&2
}
run() {
  wanted=$1 name=$2
  shift 2
  timeout 60 "$partita" "$@" <"$work/in" >"$work/out" 2>"$work/err"
  got=$?
  [ "$got" = "$wanted" ] || bad "$name: exit code $got in place of $wanted"
}
says() { grep -q -e "$2" "$work/$1" || bad "$3: no '$2' in $1"; }
equal() { [ "$2" = "$3" ] || bad "$1: '$2' in place of '$3'"; }
values() { "$partita" cluster log -b "$bootstrap" -t "$1" | tail -n +2 | cut -f 7; }
tell() {
  "$partita" cluster tell --control "$control" "$1" >"$work/out" 2>"$work/err" || bad "tell $1"
}

# serve TOPIC...: brokers, their $bootstrap and their $control
serve() {
  mkfifo "$work/ready"
  for topic in "$@"; do set -- "$@" --topic "$topic" && shift; done
  "$partita" cluster --brokers 3 "$@" --port 0 --control-port 0 --no-auto-create >"$work/ready" \
    2>"$work/cluster.err" &
  running="$running $!"
  { read -r bootstrap && read -r control; } <"$work/ready" || {
    cat "$work/cluster.err" >&2
    exit 1
  }
  bootstrap=${bootstrap#bootstrap.servers=}
  control=${control#control=}
}

# A hundred lines, of which the fortieth is larger than any record may be.
hundred() {
  big=$(head -c 2000000 /dev/zero | tr '\0' x)
  for number in $(seq 1 100); do
    if [ "$number" = 40 ]; then echo "$big"; else echo "line $number"; fi
  done >"$work/in"
}
lines() { for number in "$@"; do echo "line $number"; done; }

# The lines behind the bad one come when the failure is known: input that had been read wholly
# by then would leave no reading to end.
cli_04_dead_letter_order_a() {
  serve t:1
  hundred
  mkfifo "$work/lines"
  : >"$work/err"
  {
    sed -n 1,40p "$work/in"
    until grep -q 'is halted' "$work/err" || [ ! -e "$work/lines" ]; do sleep 0.02; done
    sed -n '41,$p' "$work/in"
  } >"$work/lines" 2>"$work/writer.err" &
  running="$running $!"
  timeout 60 "$partita" produce -b "$bootstrap" -t t --on-error halt <"$work/lines" \
    >"$work/out" 2>"$work/err"
  got=$?
  equal 'halt: exit code' "$got" 4
  says err 'stdin:40 is the first record that was not delivered' 'the position'
  says err 'stopped reading stdin' 'reading ends'
  says out ': 39 delivered' 'what was delivered'
  equal 'the log' "$(values t)" "$(lines $(seq 1 39))"
}

cli_04_dead_letter_order_b() {
  serve t:1
  hundred
  run 2 skip produce -b "$bootstrap" -t t --on-error skip
  says err 'stdin:40 is the first record that was not delivered' 'the position'
  says out '100 records in .*: 99 delivered, 1 not written, 0 unknown' 'what was delivered'
  equal 'the log' "$(values t)" "$(lines $(seq 1 39) $(seq 41 100))"
}

cli_04_dead_letter_order_c() {
  serve t:1 again:1
  hundred
  run 2 'dead letter' produce -b "$bootstrap" -t t --dlq "$work/dead" -k key -H a=b
  says out ': 99 delivered, 1 not written, 0 unknown' 'what was delivered'
  equal 'the log' "$(values t)" "$(lines $(seq 1 39) $(seq 41 100))"
  equal 'dead letters' "$(wc -l <"$work/dead")" 1
  cut -c 1-60 "$work/dead" >"$work/out"
  says out '^{"topic":"t","key":"key","value":"xxx' 'the dead letter'
  tail -c 300 "$work/dead" >"$work/out"
  says out '"headers":\[{"key":"a","value":"b"}\],"outcome":"not_written"' 'the dead letter: fate'
  says out '"source":"stdin:40"}$' 'the dead letter: source'
  # Readable as input: it fails again for the same reason, and not for its form.
  run 2 'dead letter as input' produce -b "$bootstrap" --input jsonl --on-error skip "$work/dead"
  says out '^1 record in .*: 0 delivered, 1 not written' 'dead letter as input'
  says out 'larger than max.request.size' 'dead letter as input: why'

  # In the order of the input, whatever order the answers come in: a broker that is muted for the
  # first, and a refusal of the second.
  tell '{"do":"deny","right":"write","topic":"again"}'
  printf '1\n2\n3\n' >"$work/in"
  run 5 'all of a topic' produce -b "$bootstrap" -t again --dlq "$work/again"
  tell '{"do":"allow","right":"write","topic":"again"}'
  run 0 'again' produce -b "$bootstrap" --input jsonl "$work/again"
  equal 'again: the log' "$(values again)" "$(printf '1\n2\n3')"
  echo 'something else' >"$work/other" && printf 'no line feed' >>"$work/other"
  run 1 'a file of something else' produce -b "$bootstrap" -t again --dlq "$work/other"
  says err 'no dead letter' 'a file of something else'
}

cli_05_exit_codes() {
  serve good:1 muted:1 refused:1 denied:1 two:2
  echo one >"$work/in"
  run 0 'all delivered' produce -b "$bootstrap" -t good
  run 1 'a bad option' produce -b "$bootstrap" -t good --no-such-option
  tell '{"do":"fault","topic":"refused","execution":"skip","code":10,"times":9}'
  run 2 'some not written' produce -b "$bootstrap" -t refused --on-error skip
  run 4 'halted' produce -b "$bootstrap" -t refused
  tell '{"do":"fault","topic":"muted","reply":"never","times":1000}'
  run 3 'some unknown' produce -b "$bootstrap" -t muted --on-error skip --delivery-timeout 1500
  run 3 'unknown before halted' produce -b "$bootstrap" -t muted --delivery-timeout 1500
  tell '{"do":"fault","topic":"two","partition":0,"reply":"never","times":1000}'
  tell '{"do":"fault","topic":"two","partition":1,"execution":"skip","code":10,"times":9}'
  printf '{"partition":0,"value":"a"}\n{"partition":1,"value":"b"}\n' >"$work/in"
  run 3 'unknown before not written' produce -b "$bootstrap" -t two --input jsonl \
    --on-error skip --delivery-timeout 1500
  says out '1 not written, 1 unknown' 'unknown before not written'
  echo one >"$work/in"
  tell '{"do":"deny","right":"write","topic":"denied"}'
  run 5 'not authorised' produce -b "$bootstrap" -t denied --on-error skip
  run 6 'unreachable' produce -b 127.0.0.1:1 -t good -X max.block.ms=500
}

# listener ANSWER: a service that is no broker; its port is $port
listener() {
  rm -f "$work/port"
  mkfifo "$work/port"
  python3 - "$1" >"$work/port" <<'PYTHON' &
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
kept = []
while True:
    client, _ = server.accept()
    kept.append(client)
    if sys.argv[1] == "silent":
        continue
    client.recv(4096)
    client.sendall(bytes.fromhex(sys.argv[1]))
PYTHON
  running="$running $!"
  read -r port <"$work/port"
}
http=$(printf 'HTTP/1.1 400 Bad Request\r\n\r\n' | od -An -tx1 | tr -d ' \n')

# verdict CODE NAME STEP PATTERN ARGUMENT...: that step is the first that fails, and has a hint
verdict() {
  code=$1 what=$2 step=$3 pattern=$4
  shift 4
  run "$code" "$what" doctor "$@"
  equal "$what: first bad step" "$(sed -n 's/^FAILED  \([a-z]* *[a-z]*\) .*/\1/p' "$work/out" |
    sed -n '1s/ *$//p' | sed 's/  .*//')" "$step"
  says out "$pattern" "$what"
  says out '^        hint: ' "$what"
}

cli_06_doctor() {
  : >"$work/in"
  serve t:3 denied:1 hidden:1
  run 0 'all is well' doctor -b "$bootstrap" -t t
  for step in configuration name connection protocol topic leaders 'write right'; do
    says out "^ok      $step" 'all is well'
  done
  run 0 'as JSON' doctor -b "$bootstrap" -t t --json
  says out '{"step":"leaders","ok":true,' 'as JSON'
  run 0 'nothing was written' cluster log -b "$bootstrap" -t t
  equal 'nothing was written' "$(wc -l <"$work/out")" 1

  verdict 6 'broker refused' connection 'Connection refused' -b 127.0.0.1:1 -t t
  listener "$http"
  verdict 6 'wrong port' protocol HTTP -b "127.0.0.1:$port" -t t
  listener 1503030002022846
  verdict 6 'wrong TLS' protocol TLS -b "127.0.0.1:$port" -t t
  listener silent
  verdict 6 'a broker that hangs' protocol 'no progress' -b "127.0.0.1:$port" -t t --timeout 500
  # What is known is told before the next step has ended.
  "$partita" doctor -b "127.0.0.1:$port" -t t --timeout 600000 >"$work/out" 2>"$work/err" &
  examining=$!
  timeout 30 sh -c 'until grep -q "^ok      connection" "$1"; do sleep 0.02; done' - "$work/out" ||
    bad 'the steps before one that hangs are not told'
  kill $examining
  verdict 6 'name unknown' name no-such-host -b no-such-host.invalid:9092 -t t
  for servers in "$bootstrap,127.0.0.1:1" "127.0.0.1:1,$bootstrap"; do
    run 0 'one of several servers' doctor -b "$servers" -t t
    says out '^warning connection .*Connection refused' 'one of several servers'
    says out '^ok      write right' 'one of several servers'
    equal 'one of several servers: failed' "$(grep -c FAILED "$work/out")" 0
    run 1 'one of several servers, topic missing' doctor -b "$servers" -t missing
    run 0 'one of several servers, as JSON' doctor -b "$servers" -t t --json
    says out '"step":"connection","ok":false,.*"warning":true' 'one of several servers, as JSON'
  done
  verdict 6 'all of several servers' connection 'Connection refused' -b 127.0.0.1:1,127.0.0.1:2 -t t
  verdict 1 'wrong password' configuration sasl.password -b "$bootstrap" -t t \
    -X sasl.password=planted-secret
  ! grep -q planted-secret "$work/out" "$work/err" || bad 'wrong password: told'
  for topic in '' 'a b' ..; do
    verdict 1 'a bad topic name' topic '^FAILED  topic  *-t' -b "$bootstrap" -t "$topic"
  done
  ! grep -q '^[a-zA-Z]*  *connection' "$work/out" || bad 'a bad topic name: it asked a broker'
  verdict 1 'no broker named' configuration 'hint: -b HOST:PORT' -t t
  run 0 'a comma too many' doctor -b "$bootstrap,${bootstrap%%,*}," -t denied
  equal 'a comma too many' "$(grep -c '^ok      name' "$work/out")" \
    "$(echo "$bootstrap" | tr ',' '\n' | wc -l)"
  says out '^ok      topic          denied: 1 partition$' 'one partition'
  says out '1 broker leads partitions of denied, and answers$' 'one leader'
  verdict 1 'topic missing' topic UNKNOWN_TOPIC -b "$bootstrap" -t missing
  tell '{"do":"deny","right":"write","topic":"denied"}'
  verdict 5 'no write right' 'write right' denied -b "$bootstrap" -t denied
  tell '{"do":"deny","right":"describe","topic":"hidden"}'
  verdict 5 'no right to see it' topic hidden -b "$bootstrap" -t hidden
}

case $2 in
  cli_*) "$2" ;;
  *) bad "no scenario $2" ;;
esac
[ "$failures" = 0 ] && echo "passed"
[ "$failures" = 0 ]

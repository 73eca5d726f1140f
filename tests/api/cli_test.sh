#!/bin/sh
# The program as a user meets it, against its own embedded brokers.
#
#     cli_test.sh PATH-TO-PARTITA
set -u
partita=$1
work=$(mktemp -d)
failures=0
cluster=

end() {
  [ -z "$cluster" ] || kill "$cluster" 2>/dev/null
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

# run CODE NAME ARGUMENT...: standard input is $work/in
run() {
  wanted=$1 name=$2
  shift 2
  timeout 60 "$partita" "$@" <"$work/in" >"$work/out" 2>"$work/err"
  got=$?
  [ "$got" = "$wanted" ] || bad "$name: exit code $got in place of $wanted"
}
# says FILE PATTERN NAME
says() { grep -q -e "$2" "$work/$1" || bad "$3: no '$2' in $1"; }
log_of() { "$partita" cluster log --bootstrap "$bootstrap" --topic "$1" | tail -n +2; }
field() { log_of "$1" | cut -f "$2"; }
equal() { [ "$2" = "$3" ] || bad "$1: '$2' in place of '$3'"; }

: >"$work/in"
mkfifo "$work/ready"
"$partita" cluster --brokers 3 --topic one:1 --topic many:12 --port 0 \
  >"$work/ready" 2>"$work/cluster.err" &
cluster=$!
read -r first <"$work/ready" || { cat "$work/cluster.err" >&2; exit 1; }
bootstrap=${first#bootstrap.servers=}

run 0 version --version
says out '^partita [0-9]' version
run 0 help --help
says out produce help
run 0 'help of produce' produce --help
says out jsonl 'help of produce'
run 1 'no command'
run 1 'unknown option' produce --no-such-option
run 0 'help as a word' help
says out produce 'help as a word'
run 0 'help of a command as a word' help cluster log
says out partition 'help of a command as a word'
run 1 'help of no command' help consume
says err "no command 'consume'" 'help of no command'
run 1 'surplus words' produce -b "$bootstrap" -t one "$work/nothing" two three
says err 'two, three' 'surplus words: in their order'
run 1 'no topic' produce -b "$bootstrap"
says err TOPIC 'no topic'
says err '^`partita produce --help` says' 'no topic: where to read on'
for command in produce drive; do
  [ $command = drive ] || set -- -t one
  run 1 "$command without brokers" $command "$@"
  says err '^partita: no broker is named: -b HOST:PORT' "$command without brokers"
  says err "^.partita $command --help. says" "$command without brokers: where to read on"
  set --
done
for brokers in "$bootstrap," ",$bootstrap" "$bootstrap,,${bootstrap%%,*}"; do
  run 0 'a comma too many' produce -b "$brokers" -t commas
  run 0 'a comma too many, to be read from' cluster log -b "$brokers" -t one
done
run 1 'an empty topic' produce -b 127.0.0.1:1 -t ''
says err 'the name of the topic is empty' 'an empty topic'
run 1 'a bad topic' produce -b 127.0.0.1:1 -t 'a b'
says err "-t = 'a b': not a topic's name" 'a bad topic'
run 1 'a web address' produce -b http://127.0.0.1:1 -t one
says err "-b: bootstrap.servers: 'http://127.0.0.1:1': 'http://' is no scheme" 'a web address'
run 1 'a web address, to be read from' cluster log -b http://127.0.0.1:1 -t one
says err "'http://' is no scheme" 'a web address, to be read from'
run 1 'no such file' produce -b "$bootstrap" -t one "$work/nothing"
says err nothing 'no such file'

run 1 'unknown key' produce -b "$bootstrap" -t one -X lingr.ms=5
says err lingr.ms 'unknown key: the key'
says err linger.ms 'unknown key: the nearest'
equal 'unknown key: lines' "$(wc -l <"$work/err")" 1
run 1 'value out of range' produce -b "$bootstrap" -t one -X linger.ms=-1
says err linger.ms 'value out of range'
echo 'acks=7' >"$work/wrong.properties"
run 1 'wrong file' produce -b "$bootstrap" -t one -F "$work/wrong.properties"
says err 'wrong.properties:1' 'wrong file'
printf 'ac\033[31mks\200=\001\n' >"$work/wrong.properties"
run 1 'bytes in a file' produce -b "$bootstrap" -t one -F "$work/wrong.properties"
says err 'ac\\x1b\[31mks\\x80' 'bytes in a file'
run 1 'bytes in an option' produce -b "$bootstrap" -t one "$(printf -- '--\033[31m')"
says err '\\x1b\[31m' 'bytes in an option'
run 1 'bytes in a word' cluster --topic "$(printf '\033:x')"
says err '\\x1b:x' 'bytes in a word'
run 1 '-X without =' produce -b "$bootstrap" -t one -X acks
for pair in '-X on.failure=skip' '-X partita.failure.policy=skip'; do
  # shellcheck disable=SC2086
  run 1 "--on-error against $pair" produce -b "$bootstrap" -t one --on-error halt $pair
  says err '--on-error (on.failure=halt_partition)' "--on-error against $pair: one"
  says err '=skip) and.*set one thing in two ways' "--on-error against $pair: the other"
done
run 1 'two acks' produce -b "$bootstrap" -t one --acks all -X acks=1
says err '--acks' 'two acks'
run 0 'the same twice' produce -b "$bootstrap" -t one --on-error skip -X on.failure=skip
run 0 '-X twice' produce -b "$bootstrap" -t one -X linger.ms=1 -X linger.ms=2
run 1 'two names of one setting' produce -b "$bootstrap" -t one -X linger.ms=1 \
  -X queue.buffering.max.ms=2
says err '-X (linger.ms=1) and -X (queue.buffering.max.ms=2) set one' 'two names of one setting'
run 0 'two names that agree' produce -b "$bootstrap" -t one -X linger.ms=2 \
  -X queue.buffering.max.ms=2
echo later >"$work/in"
run 0 'options given twice' produce -b 127.0.0.1:1 -t one -c 3 --acks 1 --input jsonl -q \
  -b "$bootstrap" -t later -c 1 --acks all --input lines -q
equal 'options given twice' "$(field later 7)" later
run 0 'an option of cluster log given twice' cluster log -b 127.0.0.1:1 -t one \
  -b "$bootstrap" -t later
says out later 'an option of cluster log given twice'
for command in "produce -b $bootstrap -t one" demo; do
  # shellcheck disable=SC2086
  run 1 "two files of $command" $command --file "$work/in" "$work/out"
  says err "FILE '.*/out' and --file '.*/in' are the same option" "two files of $command"
done
: >"$work/in"
run 1 'idempotence against acks' produce -b "$bootstrap" -t one --acks 1 -X enable.idempotence=true
says err 'set enable.idempotence=false' 'idempotence against acks: the way out'
echo one >"$work/in"
seq 1 20000 >"$work/in"
run 3 'no acknowledgements' produce -b "$bootstrap" -t one-acks --acks 0
says out '20000 records in .*: 0 delivered, 0 not written, 20000 unknown' 'no acknowledgements'
echo one >"$work/in"
run 0 'acks alone' produce -b "$bootstrap" -t one-acks --acks 1
says err 'note: enable.idempotence is false, to fit acks' 'acks alone'
: >"$work/in"
echo 'socket.max.fails=3' >"$work/foreign.properties"
echo 'group.id=g' >>"$work/foreign.properties"
run 0 'keys without effect' produce -b "$bootstrap" -t one -F "$work/foreign.properties"
says err 'socket.max.fails has no effect' 'keys without effect: of librdkafka'
says err 'group.id has no effect' 'keys without effect: of a consumer'

# Words and numbers that are none.
run 1 'a command that is none' produec -b "$bootstrap"
says err "no command 'produec'; the nearest is 'produce'" 'a command that is none'
run 1 'a command of cluster that is none' cluster lgo
says err "the nearest is 'log'" 'a command of cluster that is none'
run 1 'a command like no other' consume
says err 'there are produce, cluster' 'a command like no other'
run 1 'an option that is none' produce --boostrap x
says err "the nearest is '--bootstrap'" 'an option that is none'
run 1 'a port that is no number' cluster --port abc
says err "--port: takes a whole number from 0 to 65535, not 'abc'" 'a port that is no number'
run 1 'a port that is too large' cluster --port 70000
says err "--port: takes a whole number from 0 to 65535, not '70000'" 'a port that is too large'
run 1 'a partition that is no number' produce -b "$bootstrap" -t one -p x
says err "--partition: takes a whole number from 0 to 2147483647, not 'x'" 'a partition'
run 1 'an interrupt timeout' produce -b "$bootstrap" -t one --interrupt-timeout 1s
says err "--interrupt-timeout: takes a whole number from 0 to 4294967295, not '1s'" 'a timeout'
run 1 'no such configuration' produce -b "$bootstrap" -t one -F "$work/nothing.properties"
says err 'nothing.properties: No such file or directory' 'no such configuration'
run 1 'a directory as configuration' produce -b "$bootstrap" -t one -F "$work"
says err 'directory' 'a directory as configuration'
for count in -1 0 x; do
  run 1 "-c $count" produce -b "$bootstrap" -t one -c $count
  says err "--count: takes a whole number from 1 to 18446744073709551615, not '$count'" "-c $count"
done

# What the user did not set gives way to what he did.
echo short >"$work/in"
run 0 'short deadline' produce -b "$bootstrap" -t short --delivery-timeout 4000
says err 'note: request.timeout.ms is 3995' 'short deadline'
run 1 'conflict of two settings' produce -b "$bootstrap" -t short --delivery-timeout 4000 \
  -X request.timeout.ms=5000
says err 'delivery.timeout.ms' 'conflict of two settings'

printf 'k1:a\nk2:b\nnokey\n:empty\nlast:line' >"$work/in"
run 0 lines produce -b "$bootstrap" -t one -K :
says out '5 delivered, 0 not written, 0 unknown' lines
equal keys "$(field one 6 | tr '\n' ,)" 'k1,k2,\N,,last,'
equal values "$(field one 7 | tr '\n' ,)" 'a,b,nokey,empty,line,'

printf 'gone:\n' >"$work/in"
run 0 tombstone produce -b "$bootstrap" -t one -K : -Z
equal tombstone "$(field one 7 | tail -n 1)" '\N'
printf 'null:null\n' >"$work/in"
run 0 'the text null' produce -b "$bootstrap" -t one -K : -H 'a=1,2' -H b -H 'c=\N'
equal 'the text null' "$(field one 6,7 | tail -n 1)" "$(printf 'null\tnull')"
equal headers "$(field one 9 | tail -n 1)" 'a=1\x2c2,b=\N,c=\x5cN'
run 1 'a header without a name' produce -b "$bootstrap" -t one -H ''
says err "'' has no name" 'a header without a name'
run 1 'a header of a text alone' produce -b "$bootstrap" -t one -H '=text'
says err "'=text' has no name" 'a header of a text alone'
field one 8 | tail -n 1 | grep -q '^1[0-9]\{12\}$' || bad 'a timestamp is no milliseconds'
run 1 'a partition that is not there' cluster log -b "$bootstrap" -t one -p 77
equal 'no header over nothing' "$(wc -c <"$work/out")" 0
says err '^partita: topic one has no partition 77' 'a partition that is not there'


printf 'a\tx;b\ty;' >"$work/in"
run 0 delimiters produce -b "$bootstrap" -t one -K '\t' -D ';'
equal delimiters "$(field one 6 | tail -n 2 | tr '\n' ,)" 'a,b,'

seq 1 10 >"$work/in"
run 0 count produce -b "$bootstrap" -t one -c 3 -k fixed
says out '^3 records' count
equal 'fixed key' "$(field one 6 | tail -n 1)" fixed
run 0 partition produce -b "$bootstrap" -t many -p 7
equal partition "$(field many 1 | sort -u)" 7
KAFKA_BOOTSTRAP_SERVERS=$bootstrap run 0 environment produce -t one -q
equal 'quiet out' "$(wc -c <"$work/out")" 0
equal 'quiet err' "$(wc -c <"$work/err")" 0
run 2 'no partition for a manual partitioner' produce -b "$bootstrap" -t many --on-error skip \
  --partitioner manual
says out 'the partitioner is manual, and the record names no partition' \
  'no partition for a manual partitioner'
for codec in none gzip snappy lz4 zstd; do
  run 0 "codec $codec" produce -b "$bootstrap" -t one -z $codec
done
run 0 json produce -b "$bootstrap" -t one --json
says out '"delivered":10' json
says out '"partition":0' json

# The dead letters have the headers that were given: a second run with the same options adds none.
{ head -c 1100000 /dev/zero | tr '\0' x; printf '\n'; } >"$work/in"
run 2 'headers of a dead letter' produce -b "$bootstrap" -t letters -H a=1 -H b \
  --dlq "$work/letters"
sed 's/xxx*/small/' "$work/letters" >"$work/again.jsonl"
run 0 'headers of a dead letter, again' produce -b "$bootstrap" --input jsonl "$work/again.jsonl" \
  -H a=1 -H b -H c=2
equal 'headers of a dead letter, again' "$(field letters 9)" 'c=2,a=1,b=\N'

# What is read can not be what is written.
printf '{"topic":"loop","value":"v"}\n' >"$work/loop"
ln -s loop "$work/loop.symbolic"
ln "$work/loop" "$work/loop.hard"
for read in loop loop.symbolic loop.hard; do
  run 1 "--dlq $read" produce -b "$bootstrap" --input jsonl "$work/loop" --dlq "$work/$read"
  says err "^partita: --dlq .*/$read is what is read" "--dlq $read"
done
cp "$work/loop" "$work/in"
run 1 '--dlq of standard input' produce -b "$bootstrap" --input jsonl --dlq "$work/in"
equal '--dlq: the file is as it was' "$(cat "$work/in")" "$(cat "$work/loop")"
run 0 '--dlq /dev/null' produce -b "$bootstrap" --input jsonl --dlq /dev/null

cat >"$work/in" <<'END'
{"topic":"jsonl-good","key":"k","value":"v","headers":{"h":"1"},"partition":0,"timestamp":17640}

{"topic":"jsonl-good","value_base64":"AAE="}
{"topic":"jsonl-good","key":"k","value":null,"headers":[["a","1"],["b",null]]}
END
run 0 jsonl produce -b "$bootstrap" --input jsonl
equal jsonl "$(field jsonl-good 7 | tr '\n' ,)" 'v,\x00\x01,\N,'
equal 'a timestamp' "$(field jsonl-good 8 | head -n 1)" 17640
equal 'null headers' "$(field jsonl-good 9 | tail -n 1)" 'a=1,b=\N'

head -c 1100000 /dev/zero | tr '\0' x >"$work/in"
run 2 'a record that is too large' produce -b "$bootstrap" -t one --on-error skip
says out ' takes 1100[0-9]* bytes; max.request.size is 1048576' 'a record that is too large'
run 2 'a record that is too large, as JSON' produce -b "$bootstrap" -t one --on-error skip --json
says out '"first_detail":"in a request .* takes 1100' 'a record that is too large, as JSON'

printf '{"value":"first"}\n{"value":"second"}\n{"value":third}\n{"value":"fourth"}\n' >"$work/in"
run 1 'bad line' produce -b "$bootstrap" -t jsonl-bad --input jsonl
says err 'stdin:3:1[0-9]:' 'bad line'
says err '--skip-bad-lines' 'bad line'
equal 'nothing before it is lost' "$(field jsonl-bad 7 | tr '\n' ,)" 'first,second,'
run 2 'skipped bad line' produce -b "$bootstrap" -t jsonl-skip --input jsonl --skip-bad-lines
says err 'stdin:3:' 'skipped bad line'
says out '1 bad line' 'skipped bad line'
equal 'skipped bad line' "$(field jsonl-skip 7 | tr '\n' ,)" 'first,second,fourth,'

# A failed line is told by its number in the input, whatever was passed over.
{
  printf '\n{"value":"1"}\n{bad\n\n{"value":"'
  head -c 1100000 /dev/zero | tr '\0' x
  printf '"}\n'
} >"$work/in"
run 2 'the first failed line' produce -b "$bootstrap" -t jsonl-skip --input jsonl --skip-bad-lines \
  --on-error skip --json
says out '"first_failed_line":5,' 'the first failed line'
says err 'stdin:5 is the first record that was not delivered' 'the first failed line'

# Lines that are no JSON, in words of this program.
while IFS='|' read -r line reason; do
  echo "$line" >"$work/in"
  run 1 "$line" produce -b "$bootstrap" -t jsonl-bad --input jsonl
  says err "$reason" "$line"
  ! grep -q json.exception "$work/err" || bad "$line: a word of the parser"
done <<'END'
{"value":1e400}|stdin:1:[0-9]*: a number is out of range
{"headers":[{"key":"a","value":"b","value_base64":"AA=="}]}|"value_base64" besides its other form
{"headers":[{"key":"a","value_base64":"AA==","value":"b"}]}|"value" besides its other form
{"headers":[{"key":"a","value":"b","value":"c"}]}|"value" twice
END
printf '{"value":"v"}\0{"value":"lost"}\n' >"$work/in"
run 1 'a NUL byte' produce -b "$bootstrap" -t jsonl-bad --input jsonl
says err 'stdin:1:14: a NUL byte is not allowed' 'a NUL byte'
printf '\0\377\n{"do":"dance"}\0\n{"ms":1e400}\n' >"$work/in"
run 0 'no commands' drive -b "$bootstrap"
equal 'no commands' "$(grep -c 'not JSON: a NUL byte is not allowed' "$work/out")" 2
says out 'not JSON: a number is out of range' 'no commands'
run 0 'help of cluster' cluster --help
says out '--no-auto-create  ' 'help of cluster'

printf 'no\nrecord\n' >"$work/in"
run 2 'nothing but bad lines' produce -b "$bootstrap" -t jsonl-skip --input jsonl --skip-bad-lines
says out '^0 records.*2 bad lines' 'nothing but bad lines'

# Output that can not be written, input that can not be read.
echo x >"$work/in"
full() {
  name=$1
  shift
  timeout 60 "$partita" "$@" <"$work/in" >/dev/full 2>"$work/err"
  equal "$name: exit code" $? 1
  says err 'output can.t be written: No space left' "$name"
}
full 'produce --json to a full disk' produce -b "$bootstrap" -t full --json
full 'produce to a full disk' produce -b "$bootstrap" -t full
full 'cluster log to a full disk' cluster log -b "$bootstrap" -t one
full 'cluster to a full disk' cluster --brokers 1 --port 0
full 'help to a full disk' --help
printf '{"do":"produce","name":"A","topic":"full","value":"a"}\n{"do":"status"}\n' >"$work/in"
full 'drive to a full disk' drive -b "$bootstrap"
printf '{"event":"outcome","name":"A","topic":"one","outcome":"not_written"}\n' >"$work/in"
full 'check to a full disk' check -b "$bootstrap" --outcomes - --others-may-write
directory() {
  name=$1
  shift
  timeout 60 "$partita" "$@" <"$work" >"$work/out" 2>"$work/err"
  equal "$name: exit code" $? 1
  says err 'stdin: Is a directory' "$name"
}
directory 'produce from a directory' produce -b "$bootstrap" -t one
directory 'drive from a directory' drive -b "$bootstrap"
directory 'check from a directory' check -b "$bootstrap" --outcomes -

# The brokers have one name in all commands, and come from the environment.
for brokers in -b --bootstrap --bootstrap-server; do
  run 0 "cluster log $brokers" cluster log $brokers "$bootstrap" -t one -p 0
  run 0 "check $brokers" check $brokers "$bootstrap" --outcomes "$work/in" -t one \
    --others-may-write
  run 0 "produce $brokers" produce $brokers "$bootstrap" -t named
done
KAFKA_BOOTSTRAP_SERVERS=$bootstrap run 0 'environment of cluster log' cluster log -t one
KAFKA_BOOTSTRAP_SERVERS=$bootstrap run 0 'environment of check' check --outcomes "$work/in" \
  --others-may-write
for command in produce drive 'cluster log' check; do
  # shellcheck disable=SC2086
  run 0 "help of $command" $command --help
  says out KAFKA_BOOTSTRAP_SERVERS "help of $command"
done

# A record that can't be written, behind one that is there and in front of another.
big=$(head -c 2000000 /dev/zero | tr '\0' x)
behind_failure() {
  mkfifo "$work/$1"
  "$partita" produce -b "$bootstrap" -t "$1" --on-error "$1" \
    <"$work/$1" >"$work/out" 2>"$work/err" &
  running=$!
  exec 3>"$work/$1"
  echo first >&3
  until [ "$(field "$1" 7 2>/dev/null)" = first ]; do
    kill -0 $running || { bad "$1: it ended too early"; break; }
  done
  printf '%s\nsmall\n' "$big" >&3
  exec 3>&-
  wait $running
  equal "$1" $? "$2"
  says out "$3" "$1"
}
# Reading ends with the failure: the last line may or may not have been read before.
behind_failure halt 4 '1 delivered, [12] not written'
says err '^partita: .*--dlq FILE keeps what was not delivered' 'halt: what can be done'
! grep -q 'recover()' "$work/err" || bad 'halt: a word of the library'
behind_failure skip 2 '2 delivered, 1 not written'

# Nobody reads standard error any more: that does not end what has records in flight.
mkfifo "$work/lines" "$work/deaf"
"$partita" produce -b "$bootstrap" -t deaf --on-error skip <"$work/lines" \
  >"$work/out" 2>"$work/deaf" &
running=$!
exec 3>"$work/lines" 4<"$work/deaf"
exec 4<&-
printf 'first\n%s\nsmall\n' "$big" >&3
exec 3>&-
wait $running
equal deaf $? 2
says out '2 delivered, 1 not written' deaf

# A halted partition keeps the room of what failed: with nobody to recover it, reading ends.
mkfifo "$work/frozen"
"$partita" cluster --brokers 1 --topic frozen:1 --port 0 >"$work/frozen" 2>/dev/null &
frozen=$!
read -r first <"$work/frozen"
mkfifo "$work/full"
"$partita" produce -b "${first#bootstrap.servers=}" -t frozen --on-error halt \
  -X buffer.memory=8000 --delivery-timeout 1500 <"$work/full" >"$work/out" 2>"$work/err" &
running=$!
exec 3>"$work/full"
echo first >&3
until "$partita" cluster log --bootstrap "${first#bootstrap.servers=}" --topic frozen |
  grep -q first; do
  kill -0 $running || { bad 'it ended too early'; break; }
done
kill -STOP $frozen
until grep -q '^State:.*T' "/proc/$frozen/status"; do :; done
for letter in a b c; do head -c 5000 /dev/zero | tr '\0' $letter && echo; done >&3
wait $running
equal 'full and halted' $? 3
exec 3>&-
kill -KILL $frozen
says err 'stopped reading' 'full and halted'
says out '1 delivered, 0 not written, 1 unknown' 'full and halted'

# The embedded brokers: bad options, and commands while they run.
run 1 'a topic that is none' cluster --topic a:x
run 1 'an unknown version' cluster --emulate 1.0
run 1 'a negative partition' cluster log --bootstrap "$bootstrap" --topic one --partition -5
run 1 'no such ports' cluster --port 65534 --brokers 3
run 1 'a used port' cluster --port "${bootstrap##*:}" --brokers 1
says err 'in use' 'a used port'
# The second of two is taken; where the first is too, it is that one.
used=${bootstrap%%,*}
used=${used##*:}
run 1 'a used port behind a free one' cluster --port "$((used - 1))" --brokers 2
behind="port $used, that of broker 2 of 2"
says err "can not listen on \($behind\|port $((used - 1)), that of broker 1\)" \
  'a used port behind a free one'
mkfifo "$work/told"
"$partita" cluster --brokers 3 --topic told:1 --port 0 --control-port 0 >"$work/told" &
told=$!
{ read -r first && read -r second; } <"$work/told"
tell() {
  run "$1" "tell $3" cluster tell --control "${second#control=}" "$3"
  says out "$2" "tell $3"
}
tell 0 '"ok":true' '{"do":"fault","topic":"told","execution":"skip","reply":"error","code":10}'
tell 1 'tims: unknown' '{"do":"fault","tims":2}'
tell 1 'no command' '{"do":"dance"}'
tell 1 'not JSON' '{'
tell 1 'column 25: \\"times\\" twice' '{"do":"fault","times":1,"times":2}'
tell 0 '"ok":true' '{"do":"alter_topic","topic":"told","setting":"retention.ms","value":"1"}'
tell 1 'INVALID_CONFIG: no such setting' \
  '{"do":"alter_topic","topic":"told","setting":"retention","value":"1"}'
run 0 'tell pause' cluster tell --control "${second#control=}" pause 3
run 0 'tell cont' cluster tell --control "${second#control=}" cont 3
run 1 'tell a negative id' cluster tell --control "${second#control=}" \
  '{"do":"seed_producer","topic":"told","partition":0,"producer_id":-1,"epoch":0,"last_sequence":0}'
run 0 'it is still there' cluster tell --control "${second#control=}" counters
run 1 'tell an unknown broker' cluster tell --control "${second#control=}" pause 9
run 6 'tell nobody' cluster tell --control 127.0.0.1:1 counters
run 6 'tell a broker' cluster tell --control "${bootstrap%%,*}" counters
says err '^partita: .*: no control of a cluster answers there' 'tell a broker'
run 1 'tell no port' cluster tell --control foo counters
says err "^partita: --control: 'foo' is not ADDRESS:PORT" 'tell no port'
run 1 'more brokers than ports' cluster --port 65535 --brokers 3
says err '^partita: --port 65535: 3 brokers take ports up to 65537' 'more brokers than ports'
run 1 'no topic of a cluster' cluster --port 0 --topic :3
says err '^partita: --topic' 'no topic of a cluster'
echo refused >"$work/in"
run 4 'refused by a fault' produce -b "${first#bootstrap.servers=}" -t told
tell 0 '"faults_hit":1' '{"do":"counters"}'

# Outcomes against the log.
cat >"$work/commands" <<'END'
{"do":"produce","name":"A","topic":"told","partition":0,"key":"k","value":"a"}
{"do":"produce","name":"B","topic":"told","partition":0,"key":"k","value":"b"}
END
cp "$work/commands" "$work/in"
run 0 'drive for check' drive -b "${first#bootstrap.servers=}"
cp "$work/out" "$work/outcomes"
: >"$work/in"
run 0 'check of the truth' check -b "${first#bootstrap.servers=}" --commands "$work/commands" \
  --outcomes "$work/outcomes"
says out '"anomalies":0' 'check of the truth'
sed 's/"offset":1/"offset":7/; s/"name":"A"/"name":"B2"/; s/"name":"B"/"name":"A"/' \
  "$work/outcomes" >"$work/in"
run 2 'check of a lie' check -b "${first#bootstrap.servers=}" --topic told --outcomes -
says out lost-write 'check of a lie'
says out unknown-record 'check of a lie'
# What drive answered with an error, and went on.
{
  cat "$work/commands"
  echo '{"do":"produce","topic":"told","value":"no name"}'
  echo '{"do":"produce","name":"C","value":"no topic"}'
  echo '{"do":"produce","name":"D","topic":"told","value":7}'
  echo '{"do":"produce","name":"E","topic":"told","valeu":"e"}'
} >"$work/refused"
run 0 'check of what drive refused' check -b "${first#bootstrap.servers=}" \
  --commands "$work/refused" --outcomes "$work/outcomes"
says out '{"records":2,"anomalies":0}' 'check of what drive refused'
says err 'note: .*: line 6: unknown member "valeu"; nothing' 'check of what drive refused'
equal 'check of what drive refused: notes' "$(wc -l <"$work/err")" 4
# A topic that is not there holds nothing.
missing='{"event":"outcome","name":"A","topic":"missing","outcome":'
echo "$missing"'"not_written","code":"metadata_timeout"}' >"$work/in"
run 0 'check of what no topic holds' check -b "${first#bootstrap.servers=}" --outcomes -
says err "note: there is no topic 'missing'" 'check of what no topic holds'
echo "$missing"'"delivered","partition":0,"offset":0}' >"$work/in"
run 2 'check of a delivery to no topic' check -b "${first#bootstrap.servers=}" --outcomes -
says out lost-write 'check of a delivery to no topic'
run 1 "check of nothing" check -b "${first#bootstrap.servers=}" --outcomes "$work/nothing"
run 6 'check without brokers' check -b 127.0.0.1:1 --commands "$work/commands" \
  --outcomes "$work/outcomes"
kill $told
: >"$work/in"

# Far more than buffer.memory.
seq 1 200000 >"$work/in"
run 0 'small buffer' produce -b "$bootstrap" -t many -X buffer.memory=100000 -X batch.size=10000
says out '200000 delivered' 'small buffer'

echo x >"$work/in"
run 6 refused produce -b 127.0.0.1:1 -t one -X max.block.ms=500
says err 127.0.0.1 'refused: where'
says err 'refused' 'refused: why'
run 6 'IPv6' produce -b '[::1]:1' -t one -X max.block.ms=500
says err 'cluster: \[::1\]:1: .*Connection refused' 'IPv6'
run 6 'log over IPv6' cluster log -b '[::1]:1' -t one
says err '^partita: \[::1\]:1: connect' 'log over IPv6'
run 6 'no such host' produce -b no-such-host.invalid:9092 -t one -X max.block.ms=500
says err no-such-host 'no such host'

# Ctrl-C: what was read is flushed, then it ends.
mkfifo "$work/slow"
"$partita" produce -b "$bootstrap" -t interrupted <"$work/slow" >"$work/out" 2>"$work/err" &
running=$!
exec 3>"$work/slow"
echo one >&3
until [ "$(field interrupted 7 2>/dev/null)" = one ]; do
  kill -0 $running || { bad 'it ended too early'; break; }
done
echo two >&3
kill -INT $running
wait $running
equal 'interrupted' $? 130
exec 3>&-
says out 'interrupted' interrupted
says out ' 0 unknown' interrupted

# Twice, with nobody there to flush to.
mkfifo "$work/again"
"$partita" produce -b 127.0.0.1:1 -t one <"$work/again" >"$work/out" 2>"$work/err" &
running=$!
exec 3>"$work/again"
echo one >&3
until grep -q 127.0.0.1 "$work/err"; do kill -0 $running || break; done
kill -INT $running
kill -INT $running
wait $running
equal 'interrupted twice' $? 130
exec 3>&-
says out '0 delivered' 'interrupted twice'

run 0 demo demo --brokers 3 --file "$(dirname "$0")/../../examples/data/orders.jsonl"
says out '^OK' demo
run 1 demo_topic demo --topic 'x y' --file "$(dirname "$0")/../../examples/data/orders.jsonl"
says err "--topic: 'x y'" demo_topic

[ "$failures" = 0 ] && echo "all passed"
[ "$failures" = 0 ]

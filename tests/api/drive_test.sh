#!/bin/sh
# `partita drive` as a script meets it, against the embedded brokers.
#
#     drive_test.sh PATH-TO-PARTITA
set -u
partita=$1
work=$(mktemp -d)
failures=0
cluster=

end() {
  exec 3>&-
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
# drive CODE NAME ARGUMENT...: the script is standard input
drive() {
  wanted=$1 name=$2
  shift 2
  timeout 60 "$partita" drive -b "$bootstrap" "$@" >"$work/out" 2>"$work/err"
  got=$?
  [ "$got" = "$wanted" ] || bad "$name: exit code $got in place of $wanted"
}
says() { grep -q -e "$1" "$work/out" || bad "$name: no '$1'"; }
says_not() { grep -q -e "$1" "$work/out" && bad "$name: '$1'"; }
line_of() { grep -n -e "$1" "$work/out" | head -n 1 | cut -d: -f1; }
before() {
  first=$(line_of "$1") second=$(line_of "$2")
  [ -n "$first" ] && [ -n "$second" ] && [ "$first" -lt "$second" ] ||
    bad "$name: '$1' not before '$2'"
}
values() { "$partita" cluster log --bootstrap "$bootstrap" --topic "$1" | tail -n +2 | cut -f 7; }
equal() { [ "$2" = "$3" ] || bad "$1: '$2' in place of '$3'"; }

: >"$work/out"
: >"$work/err"
mkfifo "$work/ready"
"$partita" cluster --port 0 --control-port 0 --topic t:3 --topic u --topic v --topic w \
  --topic x --topic y --topic z --topic doubt --topic unseen >"$work/ready" 2>"$work/cluster.err" &
cluster=$!
{ read -r first && read -r control; } <"$work/ready" || { cat "$work/cluster.err" >&2; exit 1; }
bootstrap=${first#bootstrap.servers=}

# The end of the input closes; nothing is lost.
second='{"name":"B","topic":"t","partition":0,"value":"two"}'
third='{"name":"C","topic":"t","partition":1,"value":"three"}'
drive 0 'a record' <<END
{"do":"produce","name":"A","topic":"t","partition":0,"value":"one","headers":[["h","v"]]}

{"do":"produce_batch","records":[$second,$third]}
END
says '"event":"outcome","name":"A","t_ms":[0-9.]*,"outcome":"delivered","partition":0,"offset":0'
says '"name":"B",.*"outcome":"delivered","partition":0,"offset":1'
says '"name":"C",.*"outcome":"delivered","partition":1,"offset":0'
says '"event":"closed",.*"names":\[\]'
equal 'the log' "$(values t | tr '\n' ,)" 'one,two,three,'

# A bad line is an error with its number, and the script goes on.
drive 0 'bad lines' <<'END'
{"do":"produce","name":"A","topic":"u","value":"one"
{"do":"produce","name":"A","topic":"u","vlaue":"one"}
{"do":"produce","name":"A","topic":"u","value":"one","await":true}
{"do":"produce","name":"A","topic":"u","value":"again"}
{"do":"await","name":"nobody"}
END
says '"event":"error",.*"line":1,"do":null,"message":"not JSON'
says '"event":"error",.*"line":2,"do":"produce","message":"unknown member \\"vlaue\\""'
says '"name":"A",.*"delivered"'
says '"event":"error",.*"line":4,"do":"produce","message":"the name is taken"'
says '"event":"error",.*"line":5,"do":"await"'
equal 'once' "$(values u)" one

# A paused partition sends nothing, and an abort answers in order.
drive 0 pause <<'END'
{"do":"produce","name":"A","topic":"v","partition":0,"value":"a","await":true}
{"do":"pause","topic":"v","partition":0,"await":true}
{"do":"produce","name":"B","topic":"v","partition":0,"value":"b"}
{"do":"produce","name":"C","topic":"v","partition":0,"value":"c"}
{"do":"status"}
{"do":"pause","topic":"v","partition":0,"abort_buffered":true,"await":true}
{"do":"produce","name":"D","topic":"v","partition":0,"value":"d"}
{"do":"resume","topic":"v","partition":0}
{"do":"await","name":"D","timeout_ms":10000}
{"do":"flush","topic":"v"}
{"do":"pause","topic":"nowhere","partition":0,"await":true}
END
says '"event":"status",.*"open":2,.*"topic":"v","partition":0,"state":"paused"'
says '"name":"B",.*"outcome":"not_written",.*"code":"aborted"'
before '"name":"B"' '"name":"C"'
before '"name":"C"' '"name":"D"'
says '"name":"D",.*"delivered"'
says '"event":"flushed",.*"topic":"v","delivered":0'
says '"line":11,"do":"pause","message":"no such partition'
equal 'without what was aborted' "$(values v | tr '\n' ,)" 'a,d,'

# One record is cancelled, none of its neighbours; and one has a deadline of its own.
drive 0 cancel <<'END'
{"do":"produce","name":"A","topic":"y","partition":0,"value":"a","await":true}
{"do":"pause","topic":"y","partition":0}
{"do":"produce","name":"B","topic":"y","partition":0,"value":"b"}
{"do":"produce","name":"C","topic":"y","partition":0,"value":"c"}
{"do":"cancel","name":"B"}
{"do":"await","name":"B"}
{"do":"cancel","name":"B"}
{"do":"cancel","name":"nobody"}
{"do":"resume","topic":"y","partition":0}
{"do":"await","name":"C"}
{"do":"pause","topic":"y","partition":0}
{"do":"produce","name":"D","topic":"y","partition":0,"value":"d","deadline_ms":300,"await":true}
END
says '"name":"B",.*"not_written",.*"code":"cancelled"'
says '"line":7,"do":"cancel","message":"answered before'
says '"line":8,"do":"cancel","message":"no record has the name'
says '"name":"C",.*"delivered"'
says '"name":"D",.*"not_written",.*"code":"delivery_timeout"'
equal 'the log without what was cancelled' "$(values y | tr '\n' ,)" 'a,c,'

# A record that runs out of time halts; what is recovered comes back by its name.
drive 0 halt -X on.failure=halt_partition -X delivery.timeout.ms=2000 <<'END'
{"do":"produce","name":"A","topic":"w","partition":0,"value":"a","await":true}
{"do":"pause","topic":"w","partition":0}
{"do":"produce","name":"B","topic":"w","partition":0,"value":"b","await":true}
{"do":"resume","topic":"w","partition":0}
{"do":"produce","name":"C","topic":"w","partition":0,"value":"c","await":true}
{"do":"recover","topic":"w","partition":0,"how":"take","await":true}
{"do":"recover","topic":"w","partition":0,"how":"take","await":true}
{"do":"produce","name":"D","topic":"w","partition":0,"value":"d","await":true}
{"do":"pause","topic":"w","partition":0}
{"do":"produce","name":"F","topic":"w","partition":0,"value":"f"}
{"do":"produce","name":"G","topic":"w","partition":0,"value":"g"}
{"do":"close","deadline_ms":100,"await":true}
{"do":"produce","name":"E","topic":"w","partition":0,"value":"e","await":true}
{"do":"destroy"}
{"do":"status"}
END
says '"name":"B",.*"not_written",.*"code":"delivery_timeout"'
says '"name":"C",.*"not_written",.*"code":"halted","cause":"delivery_timeout"'
says '"event":"returned",.*"topic":"w","partition":0,"names":\["B"\]'
says '"line":7,"do":"recover","message":"not halted'
says '"name":"D",.*"delivered"'
says '"name":"E",.*"not_written",.*"code":"closed"'
says '"event":"closed",.*"names":\["F","G"\]'
says '"line":15,"do":"status","message":"the producer was destroyed"'
equal 'the log after a halt' "$(values w | tr '\n' ,)" 'a,d,'

# Events come as things happen, not at the end.
mkfifo "$work/script"
"$partita" drive -b "$bootstrap" <"$work/script" >"$work/out" 2>"$work/err" &
running=$!
exec 3>"$work/script"
echo '{"do":"produce","name":"live","topic":"t","value":"x"}' >&3
until grep -q '"name":"live".*delivered' "$work/out"; do
  kill -0 $running 2>/dev/null || { bad 'it ended too early'; break; }
done
exec 3>&-
wait $running
equal 'the end of a live script' $? 0

# Recovered by sending it again: the second answer says so, before what was produced after it.
drive 0 resubmit -X on.failure=halt_partition -X delivery.timeout.ms=2000 <<'END'
{"do":"produce","name":"A","topic":"x","partition":0,"value":"a","await":true}
{"do":"pause","topic":"x","partition":0}
{"do":"produce","name":"B","topic":"x","partition":0,"value":"b"}
{"do":"produce","name":"C","topic":"x","partition":0,"value":"c","await":true}
{"do":"resume","topic":"x","partition":0}
{"do":"recover","topic":"x","partition":0}
{"do":"produce","name":"D","topic":"x","partition":0,"value":"d","await":true}
END
says '"name":"B",.*"not_written"'
says '"name":"B",.*"delivered","partition":0,"offset":1,.*"resubmitted":true'
equal 'the log after resubmission' "$(values x | tr '\n' ,)" 'a,b,c,d,'

# A key is halted, others go on; the halt ends by its key.
cat >"$work/halt_script" <<'END'
{"do":"produce","name":"A","topic":"z","partition":0,"key":"k1","value":"a","await":true}
{"do":"pause","topic":"z","partition":0}
{"do":"produce","name":"B","topic":"z","partition":0,"key":"k1","value":"b","deadline_ms":200}
{"do":"await","name":"B"}
{"do":"resume","topic":"z","partition":0}
{"do":"produce","name":"C","topic":"z","partition":0,"key":"k1","value":"c","await":true}
{"do":"produce","name":"D","topic":"z","partition":0,"key":"k2","value":"d","await":true}
{"do":"status"}
{"do":"recover","topic":"z","partition":0,"key":"k2"}
{"do":"recover","topic":"z","partition":0,"key":"k1","how":"resubmit","await":true}
{"do":"produce","name":"E","topic":"z","partition":0,"key":"k1","value":"e","await":true}
END
drive 0 'halt of a key' -X on.failure=halt_key <"$work/halt_script"
says '"event":"halted",.*"topic":"z",.*"key":"k1",.*"code":"delivery_timeout"'
says '"name":"C",.*"not_written",.*"code":"halted"'
says '"name":"D",.*"delivered"'
says '"event":"status",.*"halted_keys":1'
says '"line":9,"do":"recover","message":"not halted'
says '"name":"B",.*"delivered",.*"resubmitted":true'
says '"event":"resumed",.*"topic":"z"'
equal 'the log after the halt of a key' "$(values z | tr '\n' ,)" 'a,d,b,e,'

# `check` knows that D may have passed B. Within a key nothing may.
cp "$work/out" "$work/told"
check() {
  "$partita" check -b "$bootstrap" --commands "$work/halt_script" --outcomes "$work/told" \
    >"$work/out" 2>"$work/err"
}
name='check of a halted key'
check || bad "$name"
says '"anomalies":0'
sed -i '1{h;d};$G' "$work/halt_script"
check
equal 'check of a key out of order' $? 2
says '"anomaly":"nonmonotonic-send".*"text":".*z-0 offset [0-9]'

# The end of the input does not wait for what may never be known.
name='an open settlement'
fault='{"do":"fault","topic":"doubt","execution":"skip","reply":"never","times":1000}'
"$partita" cluster tell --control "${control#control=}" "$fault" >"$work/out" || bad 'the fault'
drive 0 'an open settlement' -X delivery.timeout.ms=1500 -X request.timeout.ms=500 <<'END'
{"do":"produce","name":"A","topic":"doubt","partition":0,"key":"k","value":"a","await":true}
{"do":"settle","name":"A"}
END
says '"name":"A",.*"outcome":"unknown"'
says '"event":"settled",.*"name":"A","verdict":"undecidable","reason":"closed"'
before '"event":"closed"' '"event":"settled"'

# Nobody sees the events any more: no further line is carried out, and what was produced is sent.
mkfifo "$work/commands" "$work/events"
"$partita" drive -b "$bootstrap" <"$work/commands" >"$work/events" 2>"$work/err" &
running=$!
exec 3>"$work/commands" 4<"$work/events"
echo '{"do":"produce","name":"A","topic":"unseen","partition":0,"value":"a"}' >&3
read -r first <&4
exec 4<&-
# In one write: it may end at any of them.
printf '%s\n' '{"do":"produce","name":"B","topic":"unseen","partition":0,"value":"b"}' \
  '{"do":"dance"}' '{"do":"produce","name":"C","topic":"unseen","partition":0,"value":"c"}' >&3
exec 3>&-
wait $running
equal 'unseen: exit code' $? 1
grep -q "the output can't be written: Broken pipe" "$work/err" || bad 'unseen: why'
equal 'unseen: the log' "$(values unseen | tr '\n' ,)" 'a,b,'

# Nobody there: the record is answered by its deadline, and destroy answers at once.
name='no broker'
timeout 60 "$partita" drive -b 127.0.0.1:1 -X max.block.ms=300 -F /dev/null \
  >"$work/out" 2>"$work/err" <<'END'
{"do":"produce","name":"A","topic":"t","value":"x","await":true}
{"do":"produce","name":"B","topic":"t","value":"x"}
{"do":"destroy"}
END
equal 'no broker' $? 0
says '"name":"A",.*"not_written",.*"limit":"metadata_timeout"'
says '"name":"B",.*"not_written",.*"code":"closed"'

name=usage
"$partita" drive -X acks=7 </dev/null >"$work/out" 2>"$work/err"
equal 'bad configuration' $? 1

[ "$failures" = 0 ] && echo "all passed"
[ "$failures" = 0 ]

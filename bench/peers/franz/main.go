// The same runs as load_partita with franz-go, by its promises and, in the closed loop, by
// ProduceSync in as many goroutines as there are records outstanding.
//
//	load_franz saturate|fixed|closed --bootstrap HOST:PORT,... [--statistics FILE] [--records N]
//	           [--warm-up N] [--value-size N] [--linger-ms N] [--codec NAME]
//	           [--rate N] [--milliseconds N] [--window N]
//
// All of it is franz-go's default (idempotence and acks=all among it) but what the comparison
// fixes: linger, and no compression where none is asked for.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const topic = "franz-go"

type arguments []string

func (a arguments) text(name, fallback string) string {
	for i := 0; i+1 < len(a); i++ {
		if a[i] == name {
			return a[i+1]
		}
	}
	return fallback
}

func (a arguments) number(name string, fallback int) int {
	if value, err := strconv.Atoi(a.text(name, "")); err == nil {
		return value
	}
	return fallback
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "load_franz: "+format+"\n", values...)
	os.Exit(1)
}

// answers counts promises; all of them run on one goroutine of the client.
type answers struct {
	answered, failed atomic.Int64
	first            atomic.Pointer[error]
}

func (a *answers) take(err error) {
	if err != nil {
		a.failed.Add(1)
		a.first.CompareAndSwap(nil, &err)
	}
	a.answered.Add(1)
}

func (a *answers) report(produced int) {
	if err := a.first.Load(); err != nil {
		fail("%d not delivered, the first: %v", a.failed.Load(), *err)
	}
	if a.answered.Load() != int64(produced) {
		fail("%d of %d records answered", a.answered.Load(), produced)
	}
	tell("answered", float64(produced))
}

func client(given arguments) *kgo.Client {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	codec, known := codecs[given.text("--codec", "none")]
	if !known {
		fail("codec?")
	}
	linger := given.number("--linger-ms", 5)
	made, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(given.text("--bootstrap", "localhost:9092"), ",")...),
		kgo.ProducerLinger(time.Duration(linger)*time.Millisecond),
		kgo.ProducerBatchCompression(codec),
		kgo.AllowAutoTopicCreation(),
	)
	if err != nil {
		fail("%v", err)
	}
	return made
}

func flush(to *kgo.Client) {
	if err := to.Flush(context.Background()); err != nil {
		fail("%v", err)
	}
}

func produceMany(to *kgo.Client, records *load, counts *answers, from, until int) {
	promise := func(_ *kgo.Record, err error) { counts.take(err) }
	for i := from; i < until; i++ {
		next := &kgo.Record{Topic: topic, Key: records.key(i), Value: records.value(i)}
		to.Produce(context.Background(), next, promise)
	}
}

func saturate(given arguments, records *load) {
	count, warmUp := given.number("--records", 2_000_000), given.number("--warm-up", 200_000)
	to := client(given)
	var counts answers
	produceMany(to, records, &counts, 0, warmUp)
	flush(to)
	watch := watchBroker(given)
	before := now()
	produceMany(to, records, &counts, warmUp, warmUp+count)
	flush(to)
	tellCost(before, now(), count)
	watch.tellCounts()
	counts.report(warmUp + count)
}

// fixed produces what is due once a millisecond; every 16th record's answer is timed.
func fixed(given arguments, records *load) {
	rate, length := given.number("--rate", 10_000), given.number("--milliseconds", 3000)
	warmUp := given.number("--warm-up", 20_000)
	to := client(given)
	var counts answers
	var mutex sync.Mutex
	var taken []float64
	count := rate * length / 1000
	produceMany(to, records, &counts, 0, warmUp)
	flush(to)
	watch := watchBroker(given)
	before := now()
	start := time.Now()
	for sent, tick := 0, 0; sent < count; tick++ {
		time.Sleep(time.Until(start.Add(time.Duration(tick) * time.Millisecond)))
		due := min(count, int(time.Since(start).Seconds()*float64(rate))+1)
		for ; sent < due; sent++ {
			if sent%16 != 0 {
				produceMany(to, records, &counts, warmUp+sent, warmUp+sent+1)
				continue
			}
			at := time.Now()
			i := warmUp + sent
			next := &kgo.Record{Topic: topic, Key: records.key(i), Value: records.value(i)}
			to.Produce(context.Background(), next, func(_ *kgo.Record, err error) {
				took := time.Since(at)
				mutex.Lock()
				taken = append(taken, float64(took.Nanoseconds())*1e-3)
				mutex.Unlock()
				counts.take(err)
			})
		}
	}
	flush(to)
	tellCost(before, now(), count)
	watch.tellCounts()
	tellPercentiles(taken)
	counts.report(warmUp + count)
}

// closed keeps a window of records outstanding: each goroutine produces one and awaits it.
func closed(given arguments, records *load) {
	window, count := given.number("--window", 256), given.number("--records", 100_000)
	warmUp := given.number("--warm-up", 20_000)
	to := client(given)
	var counts answers
	loop := func(from, until int) []float64 {
		var next atomic.Int64
		next.Store(int64(from))
		taken := make([][]float64, window)
		var all sync.WaitGroup
		for w := range window {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					i := int(next.Add(1) - 1)
					if i >= until {
						return
					}
					at := time.Now()
					one := &kgo.Record{Topic: topic, Key: records.key(i), Value: records.value(i)}
					counts.take(to.ProduceSync(context.Background(), one).FirstErr())
					taken[w] = append(taken[w], float64(time.Since(at).Nanoseconds())*1e-3)
				}
			}()
		}
		all.Wait()
		var merged []float64
		for _, some := range taken {
			merged = append(merged, some...)
		}
		return merged
	}
	loop(0, warmUp)
	watch := watchBroker(given)
	before := now()
	taken := loop(warmUp, warmUp+count)
	tellCost(before, now(), count)
	watch.tellCounts()
	tellPercentiles(taken)
	counts.report(warmUp + count)
}

func now() moment {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail("%v", err)
	}
	return moment{time.Now(), used.Utime.Nano() + used.Stime.Nano()}
}

func main() {
	modes := map[string]func(arguments, *load){
		"saturate": saturate, "fixed": fixed, "closed": closed,
	}
	given := arguments(os.Args[1:])
	if len(given) > 0 {
		if run, known := modes[given[0]]; known {
			run(given, makeLoad(given.number("--value-size", 100)))
			return
		}
	}
	fmt.Fprintln(os.Stderr, "load_franz: saturate, fixed or closed?")
	os.Exit(2)
}

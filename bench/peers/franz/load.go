// The records of bench/load.hpp and what it tells, for franz-go: the same keys and values in the
// same order, and lines "NAME VALUE" on stdout.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"time"
)

const pool = 4096

type load struct{ keys, values [pool][]byte }

func makeLoad(valueSize int) *load {
	made := new(load)
	state := uint32(12345)
	for i := range pool {
		made.keys[i] = fmt.Appendf(nil, "customer-%07d", i)
		value := fmt.Appendf(nil, `{"order":%d,"text":"`, i)
		for len(value)+2 < valueSize {
			state = state*1664525 + 1013904223
			value = append(value, 'a'+byte((state>>27)%26))
		}
		value = append(value, `"}`...)
		for len(value) < valueSize {
			value = append(value, ' ')
		}
		made.values[i] = value[:valueSize]
	}
	return made
}

func (l *load) key(i int) []byte   { return l.keys[uint64(i)*2654435761%pool] }
func (l *load) value(i int) []byte { return l.values[i%pool] }

type moment struct {
	wall  time.Time
	cpuNs int64
}

func tell(name string, value float64) { fmt.Printf("%s %.6g\n", name, value) }

func tellCost(from, to moment, records int) {
	tell("cpu_ns", float64(to.cpuNs-from.cpuNs)/float64(records))
	tell("records_per_second", float64(records)/to.wall.Sub(from.wall).Seconds())
}

func tellPercentiles(microseconds []float64) {
	if len(microseconds) == 0 {
		return
	}
	slices.Sort(microseconds)
	at := func(share float64) float64 {
		return microseconds[int(share*float64(len(microseconds)-1))]
	}
	tell("p50_us", at(0.5))
	tell("p99_us", at(0.99))
}

// brokerWatch reads the null broker's counters (broker_statistics.hpp); without a file, nothing.
type brokerWatch struct {
	file             string
	batches, records uint64
}

func (w *brokerWatch) look() (batches, records uint64) {
	bytes, err := os.ReadFile(w.file)
	if err != nil || len(bytes) < 24 {
		fail("%s can not be read", w.file)
	}
	return binary.LittleEndian.Uint64(bytes[8:]), binary.LittleEndian.Uint64(bytes[16:])
}

func watchBroker(given arguments) *brokerWatch {
	watch := &brokerWatch{file: given.text("--statistics", "")}
	if watch.file != "" {
		watch.batches, watch.records = watch.look()
	}
	return watch
}

func (w *brokerWatch) tellCounts() {
	if w.file == "" {
		return
	}
	batches, records := w.look()
	tell("records_per_batch", float64(records-w.records)/float64(max(batches-w.batches, 1)))
}

// franz-go behind `partita drive`'s lines: produce, cancel (of the record's context) and close.
//
//	franz BOOTSTRAP DELIVERY-MS REQUEST-MS LINGER-MS
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type command struct {
	Do        string
	Name      string
	Topic     string
	Partition *int32
	Key       string
	Value     string
	Timestamp int64
}

type outcome struct {
	Event     string `json:"event"`
	Name      string `json:"name"`
	Outcome   string `json:"outcome"`
	Code      string `json:"code,omitempty"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

var (
	mutex  sync.Mutex
	output = json.NewEncoder(os.Stdout)
)

func tell(name string, record *kgo.Record, err error) {
	told := outcome{"outcome", name, "delivered", "", record.Partition, record.Offset}
	if err != nil {
		told.Outcome = "failed"
		told.Offset = -1
		told.Code = err.Error()
		var broker *kerr.Error
		if errors.As(err, &broker) {
			told.Code = broker.Message
		}
	}
	mutex.Lock()
	defer mutex.Unlock()
	output.Encode(told)
}

// The record says its partition, or the key decides.
type chooser struct{ manual, keyed kgo.Partitioner }

func (c chooser) ForTopic(topic string) kgo.TopicPartitioner {
	return topicChooser{c.manual.ForTopic(topic), c.keyed.ForTopic(topic)}
}

type topicChooser struct{ manual, keyed kgo.TopicPartitioner }

func (c topicChooser) RequiresConsistency(*kgo.Record) bool { return true }
func (c topicChooser) Partition(r *kgo.Record, n int) int {
	if r.Partition >= 0 {
		return c.manual.Partition(r, n)
	}
	return c.keyed.Partition(r, n)
}

func milliseconds(text string) time.Duration {
	count, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return time.Duration(count) * time.Millisecond
}

func main() {
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(os.Args[1], ",")...),
		kgo.ProduceRequestTimeout(milliseconds(os.Args[3])),
		kgo.RequestTimeoutOverhead(time.Second),
		kgo.ProducerLinger(milliseconds(os.Args[4])),
		kgo.RecordPartitioner(chooser{kgo.ManualPartitioner(), kgo.StickyKeyPartitioner(nil)}),
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return 100 * time.Millisecond }),
	}
	// It counts from the records' timestamps: back-dated ones would be late at once.
	if deadline := milliseconds(os.Args[2]); deadline > 0 {
		options = append(options, kgo.RecordDeliveryTimeout(deadline))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		panic(err)
	}
	cancels := map[string]context.CancelFunc{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var told command
		if json.Unmarshal(lines.Bytes(), &told) != nil {
			continue
		}
		switch told.Do {
		case "produce":
			record := &kgo.Record{Topic: told.Topic, Value: []byte(told.Value), Partition: -1}
			if told.Partition != nil {
				record.Partition = *told.Partition
			}
			if told.Key != "" {
				record.Key = []byte(told.Key)
			}
			if told.Timestamp != 0 {
				record.Timestamp = time.UnixMilli(told.Timestamp)
			}
			ctx, cancel := context.WithCancel(context.Background())
			name := told.Name
			cancels[name] = cancel
			client.Produce(ctx, record, func(r *kgo.Record, err error) { tell(name, r, err) })
		case "cancel":
			if cancel := cancels[told.Name]; cancel != nil {
				cancel()
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), milliseconds(os.Args[2])+4*time.Second)
	defer cancel()
	client.Flush(ctx)
	client.Close()
}

// The same runs as load_partita with Kafka's own client, by its callbacks.
//
//     Load saturate|fixed|closed --bootstrap HOST:PORT,... [--statistics FILE] [--records N]
//          [--warm-up N] [--value-size N] [--linger-ms N] [--codec NAME]
//          [--rate N] [--milliseconds N] [--window N]
//
// All of it is the client's default (idempotence and acks=all among it) but what the comparison
// fixes. What the virtual machine costs while it warms up is left out: the warm-up is long, and
// CPU is counted after it.

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public final class Load {
  private static final int POOL = 4096;
  private static final String TOPIC = "java";
  private static final OperatingSystemMXBean MACHINE =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final String[] given;
  private final byte[][] keys = new byte[POOL][];
  private final byte[][] values = new byte[POOL][];
  private final KafkaProducer<byte[], byte[]> producer;
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private volatile Exception first;
  private long cpuBefore;
  private long wallBefore;
  private long batchesBefore;
  private long recordsBefore;

  private Load(String[] given) {
    this.given = given;
    makeRecords((int) number("--value-size", 100));
    Properties settings = new Properties();
    settings.put("bootstrap.servers", text("--bootstrap", "localhost:9092"));
    settings.put("enable.idempotence", "true");
    settings.put("acks", "all");
    settings.put("linger.ms", text("--linger-ms", "5"));
    settings.put("compression.type", text("--codec", "none"));
    settings.put("key.serializer", ByteArraySerializer.class.getName());
    settings.put("value.serializer", ByteArraySerializer.class.getName());
    producer = new KafkaProducer<>(settings);
  }

  private String text(String name, String fallback) {
    for (int i = 1; i + 1 < given.length; ++i) {
      if (given[i].equals(name)) {
        return given[i + 1];
      }
    }
    return fallback;
  }

  private long number(String name, long fallback) {
    return Long.parseLong(text(name, Long.toString(fallback)));
  }

  // The keys and values of bench/load.hpp, in the same order.
  private void makeRecords(int size) {
    int state = 12345;
    for (int i = 0; i < POOL; ++i) {
      keys[i] = String.format(Locale.ROOT, "customer-%07d", i).getBytes(StandardCharsets.US_ASCII);
      StringBuilder value = new StringBuilder("{\"order\":" + i + ",\"text\":\"");
      while (value.length() + 2 < size) {
        state = state * 1664525 + 1013904223;
        value.append((char) ('a' + (state >>> 27) % 26));
      }
      value.append("\"}");
      while (value.length() < size) {
        value.append(' ');
      }
      value.setLength(size);
      values[i] = value.toString().getBytes(StandardCharsets.US_ASCII);
    }
  }

  private void take(Exception error) {
    if (error != null) {
      failed.incrementAndGet();
      first = error;
    }
    answered.incrementAndGet();
  }

  private void produce(long i, Callback callback) {
    byte[] key = keys[(int) (i * 2654435761L & (POOL - 1))];
    producer.send(new ProducerRecord<>(TOPIC, key, values[(int) (i % POOL)]), callback);
  }

  private void produceMany(long from, long until) {
    Callback callback = (at, error) -> take(error);
    for (long i = from; i < until; ++i) {
      produce(i, callback);
    }
  }

  private void saturate() {
    long warmUp = number("--warm-up", 1_000_000);
    long count = number("--records", 2_000_000);
    produceMany(0, warmUp);
    producer.flush();
    begin();
    produceMany(warmUp, warmUp + count);
    producer.flush();
    tellCost(count);
    report(warmUp + count);
  }

  /** What is due is produced once a millisecond; every 16th record's answer is timed. */
  private void fixed() {
    long warmUp = number("--warm-up", 500_000);
    long rate = number("--rate", 10_000);
    int count = (int) (rate * number("--milliseconds", 3000) / 1000);
    produceMany(0, warmUp);
    producer.flush();
    double[] taken = new double[(count + 15) / 16];
    begin();
    long start = System.nanoTime();
    int sent = 0;
    for (long tick = 0; sent < count; ++tick) {
      for (long left; (left = start + tick * 1_000_000 - System.nanoTime()) > 0; ) {
        LockSupport.parkNanos(left);
      }
      long due = Math.min(count, (System.nanoTime() - start) * rate / 1_000_000_000 + 1);
      for (; sent < due; ++sent) {
        if (sent % 16 != 0) {
          produceMany(warmUp + sent, warmUp + sent + 1);
          continue;
        }
        int at = sent / 16;
        long since = System.nanoTime();
        produce(
            warmUp + sent,
            (where, error) -> {
              taken[at] = (System.nanoTime() - since) * 1e-3;
              take(error);
            });
      }
    }
    producer.flush();
    tellCost(count);
    tellPercentiles(taken);
    report(warmUp + count);
  }

  /** One of a window of records: when it is answered, its callback sends the next one. */
  private final class Slot implements Callback {
    private final AtomicLong next;
    private final long from;
    private final long until;
    private final double[] taken;
    private final CountDownLatch open;
    private long current;
    private long since;

    Slot(AtomicLong next, long from, long until, double[] taken, CountDownLatch open) {
      this.next = next;
      this.from = from;
      this.until = until;
      this.taken = taken;
      this.open = open;
    }

    void send() {
      current = next.getAndIncrement();
      if (current >= until) {
        open.countDown();
        return;
      }
      since = System.nanoTime();
      produce(current, this);
    }

    @Override
    public void onCompletion(RecordMetadata at, Exception error) {
      taken[(int) (current - from)] = (System.nanoTime() - since) * 1e-3;
      take(error);
      send();
    }
  }

  private double[] loop(long from, long until) throws InterruptedException {
    int window = (int) number("--window", 256);
    double[] taken = new double[(int) (until - from)];
    AtomicLong next = new AtomicLong(from);
    CountDownLatch open = new CountDownLatch(window);
    for (int i = 0; i < window; ++i) {
      new Slot(next, from, until, taken, open).send();
    }
    open.await();
    return taken;
  }

  private void closed() throws InterruptedException {
    long warmUp = number("--warm-up", Math.min(200_000, 20_000 * number("--window", 256)));
    long count = number("--records", 100_000);
    loop(0, warmUp);
    begin();
    double[] taken = loop(warmUp, warmUp + count);
    tellCost(count);
    tellPercentiles(taken);
    report(warmUp + count);
  }

  // --- what is told -------------------------------------------------------------------------------

  private void begin() {
    ByteBuffer seen = look();
    if (seen != null) {
      batchesBefore = seen.getLong(8);
      recordsBefore = seen.getLong(16);
    }
    cpuBefore = MACHINE.getProcessCpuTime();
    wallBefore = System.nanoTime();
  }

  /** The null broker's counters (broker_statistics.hpp), where there is one. */
  private ByteBuffer look() {
    String file = text("--statistics", null);
    if (file == null) {
      return null;
    }
    try {
      return ByteBuffer.wrap(Files.readAllBytes(Path.of(file))).order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  private static void tell(String name, double value) {
    System.out.println(name + " " + value);
  }

  private void tellCost(long records) {
    long cpu = MACHINE.getProcessCpuTime() - cpuBefore;
    long wall = System.nanoTime() - wallBefore;
    tell("cpu_ns", (double) cpu / records);
    tell("records_per_second", records * 1e9 / wall);
    ByteBuffer seen = look();
    if (seen != null) {
      double batches = Math.max(1, seen.getLong(8) - batchesBefore);
      tell("records_per_batch", (seen.getLong(16) - recordsBefore) / batches);
    }
  }

  private static void tellPercentiles(double[] taken) {
    Arrays.sort(taken);
    tell("p50_us", taken[(int) (0.5 * (taken.length - 1))]);
    tell("p99_us", taken[(int) (0.99 * (taken.length - 1))]);
  }

  private void report(long produced) {
    if (first != null || answered.get() != produced) {
      System.err.println(
          "Load: " + answered + " of " + produced + " answered, " + failed + " failed: " + first);
      System.exit(1);
    }
    tell("answered", produced);
    producer.close();
  }

  public static void main(String[] given) throws InterruptedException {
    switch (given.length == 0 ? "" : given[0]) {
      case "saturate" -> new Load(given).saturate();
      case "fixed" -> new Load(given).fixed();
      case "closed" -> new Load(given).closed();
      default -> {
        System.err.println("Load: saturate, fixed or closed?");
        System.exit(2);
      }
    }
  }
}

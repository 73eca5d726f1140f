// Kafka's own client behind `partita drive`'s lines: produce and close. It has no way to cancel one
// record.
//
//     Peer BOOTSTRAP DELIVERY-MS REQUEST-MS LINGER-MS

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringSerializer;

public final class Peer {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static synchronized void tell(String name, RecordMetadata at, Exception error) {
    ObjectNode event = MAPPER.createObjectNode();
    event.put("event", "outcome").put("name", name);
    if (error == null) {
      event.put("outcome", "delivered").put("partition", at.partition());
      event.put("offset", at.hasOffset() ? at.offset() : -1);
    } else {
      Errors known = Errors.forException(error);
      boolean isKnown = known != Errors.UNKNOWN_SERVER_ERROR;
      event.put("outcome", "failed");
      event.put("code", isKnown ? known.name() : error.getClass().getSimpleName());
    }
    System.out.println(event);
    System.out.flush();
  }

  private static String text(JsonNode command, String member) {
    return command.hasNonNull(member) ? command.get(member).asText() : null;
  }

  public static void main(String[] arguments) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", arguments[0]);
    settings.put("delivery.timeout.ms", arguments[1]);
    settings.put("request.timeout.ms", arguments[2]);
    settings.put("linger.ms", arguments[3]);
    settings.put("max.block.ms", arguments[1]);
    settings.put("reconnect.backoff.max.ms", "500");
    settings.put("key.serializer", StringSerializer.class.getName());
    settings.put("value.serializer", StringSerializer.class.getName());
    KafkaProducer<String, String> producer = new KafkaProducer<>(settings);
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      JsonNode command = MAPPER.readTree(line);
      if (!"produce".equals(text(command, "do"))) {
        continue;
      }
      String name = text(command, "name");
      Integer partition = command.hasNonNull("partition") ? command.get("partition").asInt() : null;
      Long timestamp = command.hasNonNull("timestamp") ? command.get("timestamp").asLong() : null;
      producer.send(
          new ProducerRecord<>(
              text(command, "topic"), partition, timestamp, text(command, "key"),
              text(command, "value")),
          (at, error) -> tell(name, at, error));
    }
    producer.close(Duration.ofMillis(Long.parseLong(arguments[1]) + 2000));
  }
}

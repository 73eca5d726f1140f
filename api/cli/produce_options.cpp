#include "api/cli/produce_options.hpp"

#include "api/cli/line_input.hpp"
#include "api/cli/number_option.hpp"

#include <CLI/CLI.hpp>

#include <limits>

namespace partita::cli {
namespace {

constexpr const char* footer = R"(Input
  lines    one record a line. With -K the part before the first delimiter is the key: ":v" has
           the empty key, and a line without a delimiter is all value and has no key (or that of
           -k). A delimiter can not be escaped within a line; take one that keys do not hold.
           -K and -D themselves take \t \n \r \0 \\ \xHH and several characters.
  jsonl    one object a line, all members optional:
           {"topic":"t","key":"k","value":"v","headers":[["name","text"],["other",null]],
            "partition":0,"timestamp":1764000000000}, without the line break;
           key_base64 and value_base64 for bytes that are no text; no value: a tombstone;
           headers may also be {"name":"text"} or [{"key":"name","value_base64":"AA=="}]

What happens after a failure
  The program does not recover what is halted, and the order of lines counts even where they have
  no keys. So a record that fails halts its partition (on.failure=halt_partition), and reading ends;
  the library's own default is halt_key. --on-error halt-key: only records of the same key are held
  back, and a record without a key fails alone. --on-error skip: every record fails alone. The first
  line that was produced and not delivered is told; blank and bad lines of the input count.
  --dlq FILE keeps what failed: each line says whether the record was not written or may have been
  ("outcome"), and the file is input for a later run. It has the headers of -H, which a record that
  has them does not get a second time.

Exit code, the first that applies; the summary has all counts
  130 interrupted: the first Ctrl-C flushes what was read, the second leaves at once
  1 usage, configuration, input   5 not authorised   6 cluster unreachable
  3 some unknown: a second run may duplicate them   4 a partition or a key is halted
  2 some not written, lines passed over by --skip-bad-lines among them
  1 all delivered, but the summary could not be printed   0 all delivered

Examples
  printf 'k1:a\nk2:b\n' | partita produce -b localhost:9092 -t orders -K :
  partita produce -b localhost:9092 -t orders --input jsonl -z zstd orders.jsonl)";

void add_unescaped(CLI::App& command, const std::string& names, std::string& into,
                   const std::string& description) {
  command.add_option_function<std::string>(
      names,
      [&into, names](const std::string& given) {
        std::optional<std::string> plain = unescape(given);
        if (!plain || plain->empty())
          throw CLI::ValidationError(names, R"(takes text; escapes are \t \n \r \0 \\ \xHH)");
        into = std::move(*plain);
      },
      description);
}

void add_record_options(CLI::App& command, produce_options& into) {
  add_unescaped(command, "-K,--key-delimiter", into.key_delimiter,
                "a line is KEY DELIMITER VALUE; see below for lines without one");
  add_unescaped(command, "-D,--delimiter", into.record_delimiter,
                "ends a record in place of the line feed");
  command.add_option("-k,--key", into.fixed_key, "key of every record that has none");
  command
      .add_option_function<std::vector<std::string>>(
          "-H,--header",
          [&into](const std::vector<std::string>& given) {
            for (const std::string& each : given) {
              const std::size_t equals = each.find('=');
              if (each.empty() || equals == 0)
                throw CLI::ValidationError("--header", "'" + each + "' has no name");
              owned_header& header = into.headers.emplace_back();
              header.key = each.substr(0, equals);
              if (equals != std::string::npos) header.value = each.substr(equals + 1);
            }
          },
          "NAME=TEXT, or NAME for a null header, on every record that has not the same one; "
          "repeatable")
      ->allow_extra_args(false);
  add_number_option(command, "-p,--partition", into.partition,
                    {0, std::numeric_limits<std::int32_t>::max()},
                    "partition of records that name none");
  command.add_flag("-Z,--null", into.empty_is_null, "an empty value is a tombstone");
}

}  // namespace

void add_produce_options(CLI::App& command, produce_options& into) {
  add_connection_options(command, into.connection);
  command.add_option_function<std::string>(
      "-t,--topic",
      [&into](const std::string& name) {
        into.topic = name;
        into.topic_given = true;
      },
      "topic; jsonl records may name another");
  add_file_option(command, into.file, "what to read; default: standard input");
  command
      .add_option_function<std::string>(
          "--input",
          [&into](const std::string& word) {
            into.format = word == "jsonl" ? input_format::jsonl : input_format::lines;
          },
          "lines (default) or jsonl")
      ->check(CLI::IsMember({"lines", "jsonl"}));
  add_record_options(command, into);
  add_setting_option(command, into.connection, "-z,--compression", "compression.type",
                     "none, gzip, snappy, lz4 or zstd");
  add_setting_option(command, into.connection, "--acks", "acks",
                     "all (default), 1 or 0; the latter two without idempotence");
  add_setting_option(command, into.connection, "--partitioner", "partitioner",
                     "murmur2_random (default: as Java), consistent_random, ...");
  add_setting_option(command, into.connection, "--delivery-timeout", "delivery.timeout.ms",
                     "milliseconds until a record is answered at the latest");
  command
      .add_option_function<std::string>(
          "--on-error",
          [&into](const std::string& word) {
            into.connection.settings.push_back({"on.failure",
                                                word == "halt"       ? "halt_partition"
                                                : word == "halt-key" ? "halt_key"
                                                                     : "skip",
                                                "--on-error"});
          },
          "halt (default): nothing passes a failed record of its partition, and reading ends; "
          "halt-key: nothing of its key passes it; skip: it fails alone")
      ->check(CLI::IsMember({"halt", "halt-key", "skip"}));
  command.add_option("--dlq", into.dead_letters,
                     "append what was not delivered to this file, as jsonl in the order of the "
                     "input; --on-error is skip then, unless it is given");
  add_number_option(command, "-c,--count", into.count,
                    {1, std::numeric_limits<std::uint64_t>::max()}, "stop after this many records");
  command.add_flag("--skip-bad-lines", into.skip_bad_lines,
                   "report input that can't be read, and go on; ends with 2");
  command.add_flag("--json", into.json_summary, "summary as one JSON object");
  add_number_option(command, "--interrupt-timeout", into.interrupt_ms,
                    {0, std::numeric_limits<std::uint32_t>::max()},
                    "milliseconds to flush after Ctrl-C (10000)");
  command.footer(footer);
}

std::string check(const produce_options& options) {
  if (!options.topic_given && options.format == input_format::lines) return "-t TOPIC is required";
  if (options.topic_given)
    if (std::string wrong = wrong_topic(options.topic); !wrong.empty()) return wrong;
  if (options.format == input_format::jsonl && !options.key_delimiter.empty())
    return "-K is for lines; jsonl records have a \"key\"";
  if (options.format == input_format::jsonl && options.record_delimiter != "\n")
    return "-D is for lines; jsonl has one record a line";
  return {};
}

}  // namespace partita::cli

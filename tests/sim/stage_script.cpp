#include "tests/sim/stage_script.hpp"

#include <charconv>
#include <stdexcept>

namespace partita::testing {
namespace {

[[noreturn]] void wrong(std::string_view what, std::string_view text) {
  throw std::invalid_argument("scenario: " + std::string(what) + " in '" + std::string(text) + "'");
}

int number(std::string_view digits, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) wrong("no number", text);
  return value;
}

std::chrono::milliseconds duration(std::string_view words, std::string_view text) {
  if (words.ends_with("ms"))
    return std::chrono::milliseconds(number(words.substr(0, words.size() - 2), text));
  if (words.ends_with("min"))
    return std::chrono::minutes(number(words.substr(0, words.size() - 3), text));
  if (words.ends_with("s"))
    return std::chrono::seconds(number(words.substr(0, words.size() - 1), text));
  wrong("no duration", text);
}

bool is_code(std::string_view word) {
  return !word.empty() && (word[0] == '(' || (word[0] >= '0' && word[0] <= '9'));
}

void read_sight(std::string_view sight, fault& made, std::string_view text) {
  if (sight == "ok") {
    made.reply = reply::truthful;
  } else if (sight == "cut") {
    made.reply = reply::close_before;
  } else if (sight == "reset") {
    made.reply = reply::reset;
  } else if (sight == "mute") {
    made.reply = reply::lost;
  } else if (sight == "stuck") {
    made.reply = reply::never;
  } else if (sight == "badid") {
    made.reply = reply::wrong_correlation_id;
  } else if (sight == "torn") {
    made.reply = reply::truncated;
  } else if (sight == "garbage") {
    made.reply = reply::garbage;
  } else if (is_code(sight)) {
    if (sight[0] == '(') sight = sight.substr(1, sight.size() - 2);
    made.reply = reply::error;
    made.code = static_cast<broker_errc>(number(sight, text));
    made.real_offset = made.execution == execution::append;
  } else {
    wrong("unknown answer", text);
  }
}

void read_modifier(std::string_view word, fault& made, std::string_view text) {
  if (word.starts_with("late=")) {
    made.execute_after = duration(word.substr(5), text);
    made.cut_first = made.reply == reply::close_before || made.reply == reply::reset;
  } else if (word == "base=-1") {
    made.real_offset = false;
  } else if (word.starts_with("base=")) {
    made.base_offset = number(word.substr(5), text);
  } else if (word.starts_with("shape=")) {
    made.shape = word == "shape=left_out"          ? answer_shape::left_out
                 : word == "shape=twice"           ? answer_shape::twice
                 : word == "shape=other_partition" ? answer_shape::other_partition
                                                   : answer_shape::other_topic;
  } else if (word.starts_with("throttle=")) {
    made.throttle = duration(word.substr(9), text);
  } else {
    wrong("unknown word", text);
  }
}

}  // namespace

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t end = std::min(text.find(by, from), text.size());
    if (std::string part = trim(text.substr(from, end - from)); !part.empty())
      parts.push_back(std::move(part));
    from = end + 1;
  }
  return parts;
}

std::string trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

std::vector<scripted_attempt> parse_attempts(std::string_view text) {
  std::vector<scripted_attempt> made;
  for (const std::string& item : split(text, ',')) {
    std::vector<std::string> words = split(item, ' ');
    const std::size_t hash = words.at(0).find('#');
    if (hash == std::string::npos || words.size() < 2) wrong("no attempt", item);
    scripted_attempt one;
    one.name = words[0].substr(0, hash);
    const std::string which = words[0].substr(hash + 1);
    one.attempt = which == "n" ? 0 : number(which, item);
    std::string_view sight = words[1];
    const bool stored = sight.starts_with("+>");
    if (!stored && !sight.starts_with("->")) wrong("neither +> nor ->", item);
    one.fault.execution = stored ? execution::append : execution::skip;
    sight.remove_prefix(2);
    const std::size_t at = sight.find('@');
    if (at != std::string_view::npos) {
      one.fault.answer_after = duration(sight.substr(at + 1), item);
      sight = sight.substr(0, at);
    }
    read_sight(sight, one.fault, item);
    for (std::size_t i = 2; i < words.size(); ++i) read_modifier(words[i], one.fault, item);
    made.push_back(std::move(one));
  }
  return made;
}

attempt_fact parse_fact(std::string_view text) {
  const std::vector<std::string> words = split(text, ' ');
  const std::size_t hash = words.at(0).find('#');
  if (hash == std::string::npos || words.size() != 2) wrong("no fact", text);
  return {words[0].substr(0, hash), number(words[0].substr(hash + 1), text), words[1]};
}

record_word parse_record(std::string_view word) {
  record_word made;
  const std::size_t at = word.find("@p");
  if (at != std::string_view::npos) {
    made.partition = number(word.substr(at + 2), word);
    word = word.substr(0, at);
  }
  const std::size_t open = word.find('(');
  if (open != std::string_view::npos) {
    made.key = std::string(word.substr(open + 1, word.size() - open - 2));
    word = word.substr(0, open);
  }
  made.name = std::string(word);
  return made;
}

}  // namespace partita::testing

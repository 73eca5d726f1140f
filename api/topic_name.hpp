// What Kafka takes for the name of a topic.
//
// Threads: pure.
#pragma once

#include <string_view>

namespace partita {

[[nodiscard]] bool is_topic_name(std::string_view name) noexcept;

/// The rule in words.
inline constexpr std::string_view topic_name_rule =
    "1 to 249 of a-z A-Z 0-9 . _ -, but not . or .. alone";

}  // namespace partita

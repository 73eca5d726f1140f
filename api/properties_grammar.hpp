// The grammar of .properties files: keys and values, no meaning.
//
// Java's rules: `#` and `!` begin comments; a line that ends in an odd number of backslashes goes
// on in the next one, whose leading blanks are dropped; the key ends at the first `=`, `:` or blank
// that is not escaped; \t \n \r \f \uXXXX are read, any other backslash is dropped. Text is UTF-8.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace partita {

struct property {
  std::string key;
  std::string value;
  /// The value as kcat reads it, where a backslash goes only before `:` and `=`; the two differ for
  /// Windows paths and the like, and somebody has to say so.
  std::string kcat_value;
  int line = 0;  ///< where it begins, from 1
};

struct properties {
  std::vector<property> entries;
  std::string error;  ///< empty if the text is well-formed
  int error_line = 0;
};

[[nodiscard]] properties parse_properties(std::string_view text);

}  // namespace partita

// What is thrown where a configuration is wrong: what() is the message of validate() alone, where
// std::system_error would say the meaning of its code once more.
#pragma once

#include <partita/config.hpp>

#include <stdexcept>
#include <system_error>

namespace partita::detail {

class wrong_config final : public std::system_error {
 public:
  explicit wrong_config(const config_error& error)
      : std::system_error(error.code()), text_(error.message()) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.what(); }

 private:
  std::runtime_error text_;  // can be copied without failing
};

}  // namespace partita::detail

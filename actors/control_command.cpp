#include "actors/control_command.hpp"

#include "actors/completion.hpp"

#include <vector>

namespace partita::actors {

namespace {

void refuse_records(const produce_request& request, completion_target& reports,
                    std::error_code why) {
  const failed failure{.fate = fate::not_written, .code = why, .cause = {}};
  std::vector<completion_entry> entries;
  entries.reserve(request.records.size());
  for (std::size_t i = 0; i < request.records.size(); ++i)
    entries.push_back({.target = &reports, .data = request.first_tag + i});
  completion_observer unobserved;
  complete_all(entries, failure, unobserved);
}

}  // namespace

void refuse_control(std::unique_ptr<control_command> what, std::error_code why) noexcept {
  const auto* records = std::get_if<produce_request>(&what->request);
  if (records != nullptr && what->reports != nullptr) refuse_records(*records, *what->reports, why);
  what->answer(why);
}

}  // namespace partita::actors

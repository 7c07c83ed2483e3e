#include "gorgo/processor.hpp"

namespace gorgo {

std::string_view OutputBatch::type_name(const Row& row) const {
  return row.type == kNoType ? cells[row.first_cell + 1].text()
                             : std::string_view(schema->at(row.type).name);
}

Event OutputBatch::to_event(const Row& row) const {
  Event event{.type = std::string(type_name(row)), .timestamp = row.timestamp};
  for_each_attribute(row, [&](std::string_view name, const Datum& value) {
    event.attributes.push_back({std::string(name), to_value(value)});
  });
  return event;
}

}  // namespace gorgo

#include "gorgo/output_batch.hpp"

namespace gorgo {

std::string_view OutputBatch::type_name(const Row& row) const {
  return row.type == kNoType ? extras[row.extras]->type : schema->at(row.type).name;
}

Datum OutputBatch::attribute(const Row& row, std::string_view name) const {
  std::size_t number = 0;
  if (row.type != kNoType) {
    const EventType& type = schema->at(row.type);
    if (const auto index = type.find(name)) return value(row, *index);
    number += type.attributes.size();
  }
  if (row.extras == kNoExtras) return Datum::none();
  for (const std::string& extra : extras[row.extras]->names) {
    if (extra == name) {
      if (const Datum datum = value(row, number); datum.exists()) return datum;
    }
    ++number;
  }
  return Datum::none();
}

Event OutputBatch::to_event(const Row& row) const {
  Event event{.type = std::string(type_name(row)), .timestamp = row.timestamp};
  for_each_attribute(row, [&](std::string_view name, const Datum& value) {
    event.attributes.push_back({std::string(name), to_value(value)});
  });
  return event;
}

}  // namespace gorgo

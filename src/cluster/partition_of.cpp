#include "cluster/partition_of.hpp"

namespace gorgo::cluster {

std::string key_text(const Datum& key) {
  switch (key.tag) {
    case Datum::Tag::integer:
      return std::to_string(key.integer);
    case Datum::Tag::boolean:
      return key.boolean ? "true" : "false";
    case Datum::Tag::string:
      return std::string(key.text());
    default:
      return "";
  }
}

std::vector<std::uint32_t> partitions_of(const EventTable& table, std::string_view attribute,
                                         std::uint32_t partitions) {
  const std::uint32_t lacking = attribute.empty() ? 0 : partition_of("", partitions);
  std::vector<std::uint32_t> numbers(table.events, lacking);
  for (const EventColumn& column : table.columns) {
    if (attribute.empty() || column.name != attribute) continue;
    for (std::uint32_t event = 0; event < table.events; ++event) {
      if (!column.has(event)) continue;
      const Datum key = column.at(event);
      const bool is_text = key.tag == Datum::Tag::string;
      numbers[event] = partition_of(is_text ? key.text() : key_text(key), partitions);
    }
  }
  return numbers;
}

}  // namespace gorgo::cluster

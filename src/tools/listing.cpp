#include "tools/listing.hpp"

#include <algorithm>
#include <cstdio>

#include "codec/timestamp.hpp"

namespace gorgo::tools {
namespace {

std::string attributes_of(const TypeInfo& type) {
  std::string text;
  for (const AttributeType& attribute : type.attributes) {
    text += (text.empty() ? "" : ", ") + attribute.name + ": ";
    text += to_string(attribute.type);
  }
  return text;
}

}  // namespace

void print_table(const Table& rows) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    std::puts(line.c_str());
  }
}

nlohmann::ordered_json type_json(const TypeInfo& type) {
  auto attributes = nlohmann::ordered_json::array();
  for (const AttributeType& attribute : type.attributes) {
    attributes.push_back({{"name", attribute.name}, {"type", to_string(attribute.type)}});
  }
  return {{"name", type.name},         {"kept_for_ms", type.reach / 1'000'000},
          {"seen", type.seen},         {"events", type.events},
          {"bytes", type.bytes},       {"late", type.late},
          {"too_late", type.too_late}, {"attributes", std::move(attributes)}};
}

Table type_table(const std::vector<TypeInfo>& types) {
  Table rows = {{"TYPE", "KEPT FOR", "EVENTS", "BYTES", "LATE", "TOO LATE", "SEEN", "ATTRIBUTES"}};
  for (const TypeInfo& type : types) {
    std::string reach;
    codec::append_milliseconds(reach, type.reach);
    rows.push_back({type.name.empty() ? "(others)" : type.name, reach + " ms",
                    std::to_string(type.events), std::to_string(type.bytes),
                    std::to_string(type.late), std::to_string(type.too_late),
                    std::to_string(type.seen), attributes_of(type)});
  }
  return rows;
}

}  // namespace gorgo::tools

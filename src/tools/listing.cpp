#include "tools/listing.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <sstream>
#include <utility>

#include "codec/timestamp.hpp"

namespace gorgo::tools {
namespace {

std::string attributes_of(const TypeInfo& type) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::string text;
  for (const AttributeType& attribute : type.attributes) {
    text += (text.empty() ? "" : ", ") + attribute.name + ": ";
    text += to_string(attribute.type);
    if (has(type.missing_attributes, attribute.name)) text += " (never came)";
    if (has(type.unread_attributes, attribute.name)) text += " (unread)";
  }
  for (const std::string& name : type.unread_attributes) {
    if (std::ranges::find(type.attributes, name, &AttributeType::name) != type.attributes.end()) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + name + " (unread)";
  }
  return text;
}

std::string kept_for(const TypeInfo& type) {
  if (type.reach == std::numeric_limits<Duration>::max()) return "for ever";
  std::string reach;
  codec::append_milliseconds(reach, type.reach);
  return reach + " ms";
}

/// Clients choose names, which a terminal must not take for orders, nor a reader for further rows.
Table shown(Table rows) {
  for (auto& row : rows) {
    for (std::string& cell : row) {
      std::ranges::replace_if(
          cell, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
    }
  }
  return rows;
}

}  // namespace

std::vector<std::string> table_lines(const Table& given) {
  const Table rows = shown(given);
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void print_table(const Table& rows) {
  for (const std::string& line : table_lines(rows)) std::puts(line.c_str());
}

std::vector<std::string> wrapped(const std::string& sentence, std::size_t width) {
  std::vector<std::string> lines;
  std::string line, word;
  for (std::istringstream words(sentence); words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(std::move(line));
      line = "  " + word;
    } else {
      line += line.empty() ? word : " " + word;
    }
  }
  lines.push_back(std::move(line));
  return lines;
}

nlohmann::ordered_json type_json(const TypeInfo& type) {
  auto attributes = nlohmann::ordered_json::array();
  for (const AttributeType& attribute : type.attributes) {
    attributes.push_back({{"name", attribute.name}, {"type", to_string(attribute.type)}});
  }
  return {{"name", type.name},
          {"kept_for_ms", type.reach / 1'000'000},
          {"seen", type.seen},
          {"events", type.events},
          {"bytes", type.bytes},
          {"late", type.late},
          {"too_late", type.too_late},
          {"attributes", std::move(attributes)},
          {"accepted", type.accepted},
          {"no_value", type.no_value},
          {"unread", type.is_unread},
          {"subscribed", type.is_subscribed},
          {"unread_attributes", type.unread_attributes},
          {"missing_attributes", type.missing_attributes}};
}

Table type_table(const std::vector<TypeInfo>& types) {
  Table rows = {{"TYPE", "KEPT FOR", "EVENTS", "BYTES", "LATE", "TOO LATE", "SEEN", "ACCEPTED",
                 "NO VALUE", "ATTRIBUTES"}};
  for (const TypeInfo& type : types) {
    rows.push_back(
        {type.name.empty() ? "(others)" : type.name, type.is_unread ? "no rule" : kept_for(type),
         std::to_string(type.events), std::to_string(type.bytes), std::to_string(type.late),
         std::to_string(type.too_late), std::to_string(type.seen), std::to_string(type.accepted),
         std::to_string(type.no_value), attributes_of(type)});
  }
  return rows;
}

}  // namespace gorgo::tools

#include "tools/listing.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <sstream>
#include <string_view>
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

/// How many bytes at the beginning of a text a terminal may take for an order: a control character,
/// or one that turns the direction of writing. 0: none.
std::size_t order_at(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto lies = [](unsigned value, unsigned first, unsigned last) {
    return first <= value && value <= last;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && lies(byte(1), 0x80, 0x9F)) return 2;
  const bool turns = (byte(1) == 0x80 && lies(byte(2), 0xAA, 0xAE)) ||
                     (byte(1) == 0x81 && lies(byte(2), 0xA6, 0xA9));
  return byte(0) == 0xE2 && turns ? 3 : 0;
}

Table with_shown(Table rows) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = shown(cell);
  }
  return rows;
}

}  // namespace

std::string shown(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t order = order_at(text);
    safe += order > 0 ? '?' : text.front();
    text.remove_prefix(std::max<std::size_t>(1, order));
  }
  return safe;
}

std::vector<std::string> table_lines(const Table& given) {
  const Table rows = with_shown(given);
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

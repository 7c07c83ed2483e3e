#include "actions/target.hpp"

#include <algorithm>

#include "doors/topic.hpp"

namespace gorgo::actions {

std::string lines_of(const Order& order) {
  std::string lines;
  for (const auto& row : order.rows) {
    doors::append_line(lines, row);
    lines += '\n';
  }
  return lines;
}

std::string text_in(const doors::Departing::Row& row, const std::string& attribute) {
  if (attribute == "id") return doors::id_of(row.place);
  if (attribute == "type") return row.event.type;
  const auto found = std::ranges::find(row.event.attributes, attribute, &Attribute::name);
  return found == row.event.attributes.end() ? std::string() : doors::text_of(found->value);
}

std::string texts_in(const doors::Departing::Row& row, const std::vector<std::string>& attributes) {
  std::string texts;
  for (const std::string& attribute : attributes) texts += text_in(row, attribute) + '\0';
  return texts;
}

std::string filled(const std::string& with_names, const doors::Departing::Row& row) {
  std::string text;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = with_names.find('{', at), close = with_names.find('}', open);
    if (open == with_names.npos || close == with_names.npos) return text + with_names.substr(at);
    text += with_names.substr(at, open - at) +
            text_in(row, with_names.substr(open + 1, close - open - 1));
    at = close + 1;
  }
}

}  // namespace gorgo::actions

#include "dispatch/order/headers.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::dispatch {

std::shared_ptr<Header> Headers::of(const EventTable& table, const Schema& schema) {
  const EventType* const type = schema.find(table.type);
  if (type != nullptr) {
    if (type->id >= exact_.size()) exact_.resize(type->id + 1);
    const auto& exact = exact_[type->id];
    if (exact != nullptr && exact->has_columns_of(table)) return exact;
  }
  const auto other = others_.find(table.type);
  if (other != others_.end() && other->second.is_of(table)) return other->second.header;
  auto header = make(table);
  if (header->resolve(schema).exact) {
    exact_[type->id] = header;
  } else {
    keep(table, header);
  }
  return header;
}

bool Headers::Other::is_of(const EventTable& table) const {
  return std::ranges::equal(types, table.columns, {}, {}, &EventColumn::type) &&
         header->has_columns_of(table);
}

void Headers::keep(const EventTable& table, const std::shared_ptr<Header>& header) {
  Other other{.header = header, .types = {}};
  std::size_t bytes = table.type.size();
  for (const EventColumn& column : table.columns) {
    bytes += sizeof(std::string) + column.name.size();
    if (bytes > kMostBytes) return;
    other.types.push_back(column.type);
  }
  if (others_.size() >= kMostOthers) others_.clear();
  others_.insert_or_assign(header->type(), std::move(other));
}

std::shared_ptr<Header> Headers::make(const EventTable& table) {
  names_.clear();
  for (const EventColumn& column : table.columns) names_.push_back(column.name);
  return std::make_shared<Header>(table.type, names_, arrivals_.note(table.type, names_));
}

}  // namespace gorgo::dispatch

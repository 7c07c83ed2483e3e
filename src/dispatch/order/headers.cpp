#include "dispatch/order/headers.hpp"

namespace gorgo::dispatch {

std::shared_ptr<Header> Headers::of(const EventTable& table, const Schema& schema) {
  const EventType* const type = schema.find(table.type);
  if (type != nullptr) {
    if (type->id >= exact_.size()) exact_.resize(type->id + 1);
    const auto& exact = exact_[type->id];
    if (exact != nullptr && exact->has_columns_of(table)) return exact;
  }
  const auto other = others_.find(table.type);
  if (other != others_.end() && other->second->has_columns_of(table)) return other->second;
  auto header = make(table);
  if (header->resolve(schema).exact) {
    exact_[type->id] = header;
  } else {
    keep(header);
  }
  return header;
}

void Headers::keep(const std::shared_ptr<Header>& other) {
  if (other->names().size() > kMostNames) return;
  if (others_.size() >= kMostOthers) others_.clear();
  others_[other->type()] = other;
}

std::shared_ptr<Header> Headers::make(const EventTable& table) {
  names_.clear();
  for (const EventColumn& column : table.columns) names_.push_back(column.name);
  return std::make_shared<Header>(table.type, names_, arrivals_.note(table.type, names_));
}

}  // namespace gorgo::dispatch

#include "dispatch/order/headers.hpp"

namespace gorgo::dispatch {

std::shared_ptr<Header> Headers::of(const EventTable& table, const Schema& schema) {
  const EventType* const type = schema.find(table.type);
  if (type == nullptr) return make(table);
  if (type->id >= exact_.size()) exact_.resize(type->id + 1);
  std::shared_ptr<Header>& exact = exact_[type->id];
  if (exact != nullptr && exact->has_columns_of(table)) return exact;
  auto header = make(table);
  if (header->resolve(schema).exact) exact = header;
  return header;
}

std::shared_ptr<Header> Headers::make(const EventTable& table) {
  names_.clear();
  for (const EventColumn& column : table.columns) names_.push_back(column.name);
  return std::make_shared<Header>(table.type, names_, arrivals_.note(table.type, names_));
}

}  // namespace gorgo::dispatch

#include "dispatch/order/headers.hpp"

namespace gorgo::dispatch {

std::shared_ptr<Header> Headers::of(const EventTable& table, const Schema& schema) {
  names_.clear();
  for (const EventColumn& column : table.columns) names_.push_back(column.name);
  const EventType* const type = schema.find(table.type);
  const auto make = [&] {
    return std::make_shared<Header>(table.type, names_, arrivals_.note(table.type, names_));
  };
  if (type == nullptr) return make();
  if (type->id >= exact_.size()) exact_.resize(type->id + 1);
  std::shared_ptr<Header>& exact = exact_[type->id];
  if (exact != nullptr && exact->is(table.type, names_)) return exact;
  auto header = make();
  if (header->resolve(schema).exact) exact = header;
  return header;
}

}  // namespace gorgo::dispatch

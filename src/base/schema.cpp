#include "gorgo/schema.hpp"

#include <cassert>

namespace gorgo {

std::optional<std::uint32_t> EventType::find(std::string_view attribute) const {
  for (std::uint32_t i = 0; i < attributes.size(); ++i) {
    if (attributes[i].name == attribute) return i;
  }
  return std::nullopt;
}

std::string declaration_of(const EventType& type) {
  std::string text = "event " + type.name + "(";
  for (const auto& attribute : type.attributes) {
    if (text.back() != '(') text += ", ";
    text += attribute.name + ": " + std::string(to_string(attribute.type));
  }
  return text + ");";
}

Schema::Schema() { types_.push_back(EventType{.id = kTimerType}); }

const EventType& Schema::add(EventType type) {
  assert(find(type.name) == nullptr);
  type.id = size();
  by_name_.emplace(type.name, type.id);
  ++version_;
  return *types_.emplace_back(std::move(type));
}

void Schema::remove(std::string_view name) {
  const auto it = by_name_.find(name);
  assert(it != by_name_.end());
  types_[it->second].reset();
  by_name_.erase(it);
  ++version_;
}

void Schema::set_origin(TypeId id, TypeOrigin origin) {
  types_[id]->origin = origin;
  ++version_;
}

void Schema::set_number(TypeId id, std::int32_t number) {
  types_[id]->number = number;
  ++version_;
}

const EventType* Schema::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &*types_[it->second];
}

const EventType& Schema::at(TypeId id) const {
  assert(knows(id));
  return *types_[id];
}

bool Schema::knows(TypeId id) const { return id < types_.size() && types_[id].has_value(); }

std::vector<std::string> Schema::names() const {
  std::vector<std::string> names;
  for (const auto& [name, id] : by_name_) names.push_back(name);
  return names;
}

}  // namespace gorgo

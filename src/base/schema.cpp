#include "gorgo/schema.hpp"

#include <algorithm>
#include <cassert>

#include "base/shared_map.hpp"
#include "base/shared_vector.hpp"

namespace gorgo {
namespace {

/// A letter of a name in lower case; names are ASCII.
unsigned char lower(char c) {
  return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

}  // namespace

std::optional<std::uint32_t> EventType::find(std::string_view attribute) const {
  for (std::uint32_t i = 0; i < attributes.size(); ++i) {
    if (attributes[i].name == attribute) return i;
  }
  return std::nullopt;
}

std::string declaration_of(const EventType& type) {
  std::string text = type.table() ? "" : type.internal() ? "internal event " : "event ";
  text += type.name + "(";
  for (std::uint32_t i = 0; i < type.attributes.size(); ++i) {
    const AttributeType& attribute = type.attributes[i];
    if (attribute.name.empty()) continue;  // hidden
    if (text.back() != '(') text += ", ";
    text += attribute.name + ": " + std::string(to_string(attribute.type));
    if (std::ranges::count(type.key, i) > 0) text += " key";
  }
  return text + ");";
}

struct Schema::Tables {
  /// The hash of a text in lower case.
  struct HashOfSpelling {
    std::size_t operator()(std::string_view text) const {
      std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
      for (const char c : text) hash = (hash ^ lower(c)) * 0x100000001b3U;
      return hash ^ (hash >> 32U);
    }
  };

  SharedVector<std::shared_ptr<const EventType>> types;  // by TypeId; null when removed
  SharedMap<std::string, TypeId, HashOfSpelling> by_name;
  SharedMap<std::int32_t, TypeId> by_number;
  std::uint64_t version = 0;
};

Schema::Schema() : tables_(std::make_unique<Tables>()) {
  tables_->types.push_back(std::make_shared<const EventType>(EventType{.id = kTimerType}));
}

Schema::~Schema() = default;
Schema::Schema(const Schema& other) : tables_(std::make_unique<Tables>(*other.tables_)) {}
Schema& Schema::operator=(const Schema& other) { return *this = Schema(other); }
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;

const EventType& Schema::add(EventType type) {
  assert(find(type.name) == nullptr);
  type.id = size();
  ++tables_->version;
  tables_->by_name.insert(type.name, type.id);
  if (type.number) tables_->by_number.insert(*type.number, type.id);
  tables_->types.push_back(std::make_shared<const EventType>(std::move(type)));
  return at(size() - 1);
}

void Schema::remove(std::string_view name) {
  const EventType& type = *find(name);
  if (type.number) tables_->by_number.erase(*type.number);
  const TypeId id = type.id;
  ++tables_->version;
  tables_->by_name.erase(name);
  tables_->types.set(id, nullptr);
}

void Schema::set_origin(TypeId id, TypeOrigin origin) {
  if (at(id).origin == origin) return;
  EventType type = at(id);
  type.origin = origin;
  replace(id, std::move(type));
}

void Schema::set_number(TypeId id, std::int32_t number) {
  if (at(id).number == number) return;
  tables_->by_number.insert(number, id);
  EventType type = at(id);
  type.number = number;
  replace(id, std::move(type));
}

void Schema::replace(TypeId id, EventType type) {
  ++tables_->version;
  tables_->types.set(id, std::make_shared<const EventType>(std::move(type)));
}

const EventType* Schema::find(std::string_view name) const {
  const TypeId* const id = tables_->by_name.find(name);
  return id == nullptr ? nullptr : tables_->types[*id].get();
}

const EventType* Schema::numbered(std::int32_t number) const {
  const TypeId* const id = tables_->by_number.find(number);
  return id == nullptr ? nullptr : tables_->types[*id].get();
}

std::vector<const EventType*> Schema::spelt_like(std::string_view name) const {
  std::vector<const EventType*> types;
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  tables_->by_name.for_each_alike(name, [&](const std::string& known, TypeId id) {
    if (std::ranges::equal(known, name, same)) types.push_back(&at(id));
  });
  return types;
}

const EventType& Schema::at(TypeId id) const {
  assert(knows(id));
  return *tables_->types[id];
}

bool Schema::knows(TypeId id) const { return id < size() && tables_->types[id] != nullptr; }

std::uint64_t Schema::version() const { return tables_->version; }

TypeId Schema::size() const { return static_cast<TypeId>(tables_->types.size()); }

std::vector<std::string> Schema::names() const {
  std::vector<std::string> names;
  tables_->by_name.for_each([&](const std::string& name, TypeId id) {
    if (!at(id).joint()) names.push_back(name);
  });
  std::ranges::sort(names);
  return names;
}

}  // namespace gorgo

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/value.hpp"

namespace gorgo {

/// Dense number of an event type within one schema; never reused for another type.
using TypeId = std::uint32_t;
inline constexpr TypeId kNoType = ~TypeId{0};
/// The instants that timers fire at, as events without attributes. Every schema knows this type;
/// it has no name, so nobody can publish or read it.
inline constexpr TypeId kTimerType = 0;

struct AttributeType {
  std::string name;
  ValueType type;

  friend bool operator==(const AttributeType&, const AttributeType&) = default;
};

/// How a type came to be known (TESLA.md §1).
enum class TypeOrigin : std::uint8_t {
  declared,   ///< `event T(...)` or a client's declaration: events carry exactly the attributes
  composite,  ///< `define T(...)`: as declared
  inferred,   ///< from the rules that use it: events may lack attributes and carry others
};

struct EventType {
  TypeId id = kNoType;
  std::string name;
  std::vector<AttributeType> attributes;
  TypeOrigin origin = TypeOrigin::declared;
  std::optional<std::int32_t> number;  ///< on the T-Rex wire (`Assign n => T`)

  /// Index of the attribute of this name, or nothing.
  std::optional<std::uint32_t> find(std::string_view attribute) const;
  /// Every attribute must be present and no other.
  bool strict() const { return origin != TypeOrigin::inferred; }
};

/// `event Temp(area: string, value: float);`
std::string declaration_of(const EventType& type);

/// The known event types. A value type: deployment works on a copy and swaps it in as a whole.
class Schema {
 public:
  Schema();

  /// Adds a type and numbers it. Precondition: no type of this name is known.
  const EventType& add(EventType type);
  /// Forgets a type; its number stays taken. Precondition: `find(name)`.
  void remove(std::string_view name);
  void set_origin(TypeId id, TypeOrigin origin);
  void set_number(TypeId id, std::int32_t number);

  /// The references stay valid until the schema is changed or destroyed.
  const EventType* find(std::string_view name) const;
  /// Precondition: `id` is a known type.
  const EventType& at(TypeId id) const;
  bool knows(TypeId id) const;
  /// Grows with every change. Copies that are changed in their own ways may have the same.
  std::uint64_t version() const { return version_; }

  /// Numbers given out so far: every `TypeId` is below.
  TypeId size() const { return static_cast<TypeId>(types_.size()); }
  /// The known names, sorted.
  std::vector<std::string> names() const;

 private:
  std::vector<std::optional<EventType>> types_;  // by TypeId; empty when removed
  std::map<std::string, TypeId, std::less<>> by_name_;
  std::uint64_t version_ = 0;
};

}  // namespace gorgo

#pragma once

#include <cstdint>
#include <memory>
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

/// How a type came to be known (language.md §1).
enum class TypeOrigin : std::uint8_t {
  declared,   ///< `event T(...)` or a client's declaration: events carry exactly the attributes
  composite,  ///< `define T(...)`: as declared
  inferred,   ///< from the rules that use it: events may lack attributes and carry others
  internal,   ///< `internal event T(...)`: as declared, but not among what `*` stands for
};

/// A type whose events a joint type takes in.
struct JointMember {
  TypeId type = kNoType;
  /// By attribute of the joint type, the hidden one aside: its index in the member.
  std::vector<std::uint32_t> attributes;
};

struct EventType {
  TypeId id = kNoType;
  std::string name;
  std::vector<AttributeType> attributes;
  TypeOrigin origin = TypeOrigin::declared;
  std::optional<std::int32_t> number = {};  ///< on the T-Rex wire (`Assign n => T`)
  /// Members of a joint type, which a state over several types has. It has all their events, with
  /// the attributes that they have in common and, behind these, a hidden one without a name: the
  /// member's number here. Its name has blanks, so that nobody can publish or read it by name.
  std::vector<JointMember> members = {};
  /// The attributes that are the key of a table, ascending, where this type has the rows of one. It
  /// is then a joint type of one member, and the newest row of each key stays as long as the type.
  std::vector<std::uint32_t> key = {};

  bool joint() const { return !members.empty(); }
  bool table() const { return !key.empty(); }

  /// Index of the attribute of this name, or nothing.
  std::optional<std::uint32_t> find(std::string_view attribute) const;
  /// Every attribute must be present and no other.
  bool strict() const { return origin != TypeOrigin::inferred; }
  bool internal() const { return origin == TypeOrigin::internal; }
};

/// `event Temp(area: string, value: float);`
std::string declaration_of(const EventType& type);

/// The known event types. A value type: deployment works on a copy and swaps it in as a whole.
/// Copies share what they have in common, so a copy costs next to nothing and a change of it costs
/// what is changed. Different threads may use different copies at the same time.
class Schema {
 public:
  Schema();
  ~Schema();
  Schema(const Schema& other);
  Schema& operator=(const Schema& other);
  /// What was moved from may only be assigned to or destroyed.
  Schema(Schema&&) noexcept;
  Schema& operator=(Schema&&) noexcept;

  /// Adds a type and numbers it. Precondition: no type of this name is known, and none with its
  /// number on the T-Rex wire.
  const EventType& add(EventType type);
  /// Forgets a type; its `TypeId` stays taken. Precondition: `find(name)`.
  void remove(std::string_view name);
  void set_origin(TypeId id, TypeOrigin origin);
  /// Precondition: the type has no number, and no other type has this one.
  void set_number(TypeId id, std::int32_t number);

  /// The references stay valid until the schema is changed or destroyed. Null: it is not known.
  const EventType* find(std::string_view name) const;
  /// The type with this number on the T-Rex wire, or null.
  const EventType* numbered(std::int32_t number) const;
  /// The types whose names differ from this one, if at all, in upper and lower case.
  std::vector<const EventType*> spelt_like(std::string_view name) const;
  /// Precondition: `id` is a known type.
  const EventType& at(TypeId id) const;
  bool knows(TypeId id) const;
  /// Grows with every change. Copies that were changed in different ways may have the same version.
  std::uint64_t version() const;

  /// Numbers given out so far: every `TypeId` is below.
  TypeId size() const;
  /// The known names, sorted; not those of joint types.
  std::vector<std::string> names() const;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;

  void replace(TypeId id, EventType type);
};

}  // namespace gorgo

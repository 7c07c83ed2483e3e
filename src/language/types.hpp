#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "gorgo/schema.hpp"
#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// Index into `TypeTable::entries`.
using TypeIndex = std::uint32_t;
/// The type of a timer's state.
inline constexpr TypeIndex kNoEntry = ~TypeIndex{0};

/// A type while a file is bound.
struct TypeEntry {
  EventType type;                       ///< `id` is set once the schema is built
  bool known = false;                   ///< stood in the schema before this file
  bool fixed = false;                   ///< attributes are given: known, declared or defined
  std::optional<Location> at;           ///< where this file declares or defines it first
  std::vector<TypeIndex> members = {};  ///< of a joint type
  std::uint32_t uses = 0;               ///< predicates of this file that name it
  Location used_at;                     ///< the first of them
  /// Attributes with an error of their own, already reported. Uses of them say nothing more.
  std::unordered_set<std::string> poisoned;

  std::optional<std::uint32_t> find(std::string_view attribute) const;
  void add_attribute(AttributeType attribute);

 private:
  friend class TypeTable;
  void index_attributes();
  std::unordered_map<std::string, std::uint32_t> by_name_;
};

/// The types of one file and the known ones that it mentions.
class TypeTable {
 public:
  explicit TypeTable(const Schema& known) : known_(known) {}

  /// The type of this name, which may be a joint type; unknown ones are entered as types to infer.
  TypeIndex mention(const std::string& name);
  /// The type of this name if it was mentioned.
  std::optional<TypeIndex> find(const std::string& name) const;
  TypeEntry& at(TypeIndex index) { return entries_[index]; }
  const TypeEntry& at(TypeIndex index) const { return entries_[index]; }
  TypeIndex size() const { return static_cast<TypeIndex>(entries_.size()); }

  /// `event T(...)` or `define T(...)`: fixes the attributes, or compares them with the ones that
  /// are fixed already. `attributes` have no duplicates.
  void declare(const ast::Name& name, std::vector<AttributeType> attributes, TypeOrigin origin,
               Reporter& reporter);
  /// `table T(...)`, whose type is declared.
  void declare_table(const ast::EventDeclaration& table, Reporter& reporter);
  /// `Assign n => T`.
  void number(const ast::TypeNumber& number, Reporter& reporter);

  /// Gives the joint types their attributes. Precondition: all other types are fixed.
  void fix_joint_types();

  /// The known types and those of this file.
  Schema build_schema();
  /// The names of the fixed types, for suggestions.
  std::vector<std::string> fixed_names() const;

 private:
  bool has_fixed_members(const TypeEntry& joint) const;
  void fix(TypeEntry& joint) const;
  void number_members(TypeEntry& joint) const;
  void refuse_redeclaration(const ast::Name& name, const TypeEntry& entry,
                            const EventType& declared, Reporter& reporter) const;

  const Schema& known_;
  std::vector<TypeEntry> entries_;
  std::unordered_map<std::string, TypeIndex> by_name_;
  std::unordered_map<std::int64_t, std::string> by_number_;  // those that this file gives
};

bool is_number(ValueType type);

/// `declaration(type)` with one more attribute.
std::string declaration_with(EventType type, std::string_view attribute, ValueType added);

}  // namespace gorgo::language

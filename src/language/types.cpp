#include "language/types.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "codec/names.hpp"
#include "language/joint_types.hpp"
#include "language/server_types.hpp"

namespace gorgo::language {

std::optional<std::uint32_t> TypeEntry::find(std::string_view attribute) const {
  const auto it = by_name_.find(std::string(attribute));
  return it == by_name_.end() ? std::nullopt : std::optional(it->second);
}

void TypeEntry::add_attribute(AttributeType attribute) {
  by_name_.emplace(attribute.name, static_cast<std::uint32_t>(type.attributes.size()));
  type.attributes.push_back(std::move(attribute));
}

void TypeEntry::index_attributes() {
  by_name_.clear();
  for (std::uint32_t i = 0; i < type.attributes.size(); ++i) {
    by_name_.emplace(type.attributes[i].name, i);
  }
}

TypeIndex TypeTable::mention(const std::string& name) {
  std::vector<TypeIndex> members;
  for (const std::string& member : joined_names(name)) members.push_back(mention(member));
  const auto [it, added] = by_name_.emplace(name, size());
  if (added) {
    TypeEntry& entry = entries_.emplace_back();
    entry.type.name = name;
    entry.type.origin = TypeOrigin::inferred;
    const EventType* const known = known_.find(name);
    if (const EventType* type = known != nullptr ? known : server_type(name)) {
      entry.type = *type;
      entry.known = known != nullptr;
      entry.fixed = true;
      entry.index_attributes();
    }
    entry.members = std::move(members);
    if (!entry.fixed && !entry.members.empty() && has_fixed_members(entry)) fix(entry);
  }
  return it->second;
}

bool TypeTable::has_fixed_members(const TypeEntry& joint) const {
  return std::ranges::all_of(joint.members, [this](TypeIndex i) { return entries_[i].fixed; });
}

/// Gives a joint type the attributes that all its members have alike, in the order of the first.
void TypeTable::fix(TypeEntry& joint) const {
  joint.type.origin = TypeOrigin::composite;  // it goes with the rules
  for (const TypeIndex member : joint.members) {
    if (!entries_[member].type.strict()) joint.type.origin = TypeOrigin::inferred;
  }
  for (const AttributeType& attribute : entries_[joint.members.front()].type.attributes) {
    const bool is_common = std::ranges::all_of(joint.members, [&](TypeIndex i) {
      const auto index = entries_[i].find(attribute.name);
      return index && entries_[i].type.attributes[*index].type == attribute.type;
    });
    if (is_common) joint.add_attribute(attribute);
  }
  joint.add_attribute({"", ValueType::integer});
  joint.fixed = true;
}

void TypeTable::fix_joint_types() {
  for (TypeEntry& entry : entries_) {
    if (!entry.members.empty() && !entry.fixed) fix(entry);
  }
}

/// Says where the members have the attributes of the joint type.
void TypeTable::number_members(TypeEntry& joint) const {
  for (const TypeIndex index : joint.members) {
    const TypeEntry& member = entries_[index];
    JointMember& added = joint.type.members.emplace_back();
    added.type = member.type.id;
    for (const AttributeType& attribute : joint.type.attributes) {
      if (!attribute.name.empty()) added.attributes.push_back(*member.find(attribute.name));
    }
  }
}

std::optional<TypeIndex> TypeTable::find(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? std::nullopt : std::optional(it->second);
}

void TypeTable::declare(const ast::Name& name, std::vector<AttributeType> attributes,
                        TypeOrigin origin, Reporter& reporter) {
  if (auto problem = codec::problem_of_attribute_count(name.text, attributes.size())) {
    reporter.error(name.at, problem->message, problem->hint);
  }
  TypeEntry& entry = entries_[mention(name.text)];
  if (!entry.fixed) {
    entry.type.attributes = std::move(attributes);
    entry.type.origin = origin;
    entry.fixed = true;
    entry.at = name.at;
    entry.index_attributes();
    return;
  }
  if (entry.type.attributes != attributes) {
    EventType declared = entry.type;
    declared.attributes = std::move(attributes);
    refuse_redeclaration(name, entry, declared, reporter);
    return;
  }
  // The origin that keeps the type longer stays: a declared type outlives all rules, a defined one
  // only the rules that do not define it. One declaration is enough to make a type internal.
  const bool longer = origin < entry.type.origin && !entry.type.internal();
  if (longer || origin == TypeOrigin::internal) entry.type.origin = origin;
}

void TypeTable::refuse_redeclaration(const ast::Name& name, const TypeEntry& entry,
                                     const EventType& declared, Reporter& reporter) const {
  if (reporter.full()) return;
  const std::string before = declaration(entry.type);
  std::string message = declaration(declared) + " contradicts ";
  std::string hint = "all declarations and definitions of a type agree in names, types and order";
  if (entry.at) {
    message += before + " at " + place(*entry.at);
  } else if (entry.type.origin == TypeOrigin::inferred) {
    message += "what the deployed rules imply, " + before;
    hint = "write " + before + ", or remove the rules that use " + in_quotes(name.text);
  } else {
    message += before + ", which is deployed";
    if (entry.type.origin == TypeOrigin::declared) {
      hint =
          "a declared type stays as it is, also without rules: take another name for the new one";
    }
  }
  reporter.error(name.at, std::move(message), std::move(hint));
}

void TypeTable::declare_table(const ast::EventDeclaration& table, Reporter& reporter) {
  const TypeIndex index = mention(rows_name(table.name.text));
  TypeEntry& rows = entries_[index];
  std::vector<std::uint32_t> key;
  for (const ast::AttributeDeclaration& attribute : table.attributes) {
    const auto found = rows.find(attribute.name.text);
    if (attribute.is_key && found) key.push_back(*found);
  }
  if (rows.type.table() && rows.type.key != key) {
    return reporter.error(table.name.at,
                          "table " + in_quotes(table.name.text) + " is known with another key",
                          "all declarations of a table agree in its key");
  }
  rows.type.key = std::move(key);
  rows.type.origin = TypeOrigin::declared;  // rows stay without rules that read them
}

void TypeTable::number(const ast::TypeNumber& number, Reporter& reporter) {
  const std::string text = std::to_string(number.number);
  const Location at = number.type.at;
  if (number.number < std::numeric_limits<std::int32_t>::min() ||
      number.number > std::numeric_limits<std::int32_t>::max()) {
    return reporter.error(at, "type number " + text + " does not fit 32 bits",
                          "the T-Rex wire carries type numbers as 32-bit integers");
  }
  const EventType* const known = known_.numbered(static_cast<std::int32_t>(number.number));
  const auto it =
      by_number_.emplace(number.number, known != nullptr ? known->name : number.type.text).first;
  if (it->second != number.type.text) {
    return reporter.error(at,
                          "number " + text + " is already that of type " + in_quotes(it->second),
                          "give " + in_quotes(number.type.text) + " a number of its own");
  }
  EventType& type = entries_[mention(number.type.text)].type;
  if (type.number && *type.number != number.number) {
    return reporter.error(
        at,
        "type " + in_quotes(type.name) + " already has the number " + std::to_string(*type.number),
        "a type has one number on the T-Rex wire");
  }
  type.number = static_cast<std::int32_t>(number.number);
}

Schema TypeTable::build_schema() {
  Schema schema = known_;
  for (TypeEntry& entry : entries_) {
    if (!entry.known) {
      number_members(entry);
      entry.type.id = schema.add(entry.type).id;
      continue;
    }
    if (!entry.type.joint()) schema.set_origin(entry.type.id, entry.type.origin);
    if (entry.type.number) schema.set_number(entry.type.id, *entry.type.number);
  }
  return schema;
}

std::vector<std::string> TypeTable::fixed_names() const {
  std::vector<std::string> names = known_.names();
  for (const TypeEntry& entry : entries_) {
    if (entry.fixed && !entry.known && entry.members.empty()) names.push_back(entry.type.name);
  }
  return names;
}

bool is_number(ValueType type) { return type == ValueType::integer || type == ValueType::floating; }

std::string declaration_with(EventType type, std::string_view attribute, ValueType added) {
  if (!type.find(attribute)) type.attributes.push_back({std::string(attribute), added});
  return declaration(type);
}

}  // namespace gorgo::language

#include "dispatch/rules/kept_types.hpp"

#include <limits>
#include <utility>

#include "base/arithmetic.hpp"
#include "base/sorted_numbers.hpp"

namespace gorgo::dispatch {

Duration KeptTypes::reach_of(TypeId type) const {
  const auto& reaches = read_[type].reaches;
  return arithmetic::saturating_add(reaches.empty() ? 0 : reaches.rbegin()->first, max_late_);
}

void KeptTypes::add(TypeId type, const TypeReads& more) { at(type).add(more); }

KeptTypes::Read& KeptTypes::at(TypeId type) {
  if (type >= read_.size()) read_.resize(type + 1);
  return read_[type];
}

void KeptTypes::name(Read& read, const EventType& type) {
  if (!read.name.empty()) return;
  read.name = type.name;
  by_name_.insert_or_assign(type.name, type.id);
}

std::vector<TypeId> KeptTypes::keep_tables(const Schema& schema, history::History& history) {
  const std::size_t before = tables_.size();
  for (; tables_known_ < schema.size(); ++tables_known_) {
    if (!schema.knows(tables_known_) || !schema.at(tables_known_).table()) continue;
    const EventType& rows = schema.at(tables_known_);
    const EventType& events = schema.at(rows.members.front().type);
    history.keep(rows, std::numeric_limits<Duration>::max());
    at(rows.id).is_table = true;
    name(at(rows.id), rows);
    ++at(events.id).joint_uses;
    name(at(events.id), events);
    join(rows);
    tables_.push_back(rows.id);
  }
  return {tables_.begin() + static_cast<std::ptrdiff_t>(before), tables_.end()};
}

void KeptTypes::keep(const std::set<TypeId>& types, const Schema& schema,
                     history::History& history) {
  for (const TypeId id : types) {
    Read& read = read_[id];
    if (read.reaches.empty() && read.joint_uses == 0) continue;
    const EventType& type = schema.at(id);
    if (!read.reaches.empty() && !read.is_table) {
      history.keep(type, reach_of(id));
      if (type.joint()) join(type);
    }
    if (id != kTimerType) name(read, type);
  }
}

void KeptTypes::forget(const std::set<TypeId>& types, history::History& history) {
  for (const TypeId id : types) {
    Read& read = read_[id];
    if (has(id)) {
      history.release_columns(id);
      continue;
    }
    unjoin(id);
    if (history.keeps(id)) history.forget(id);
    if (read.joint_uses > 0) continue;
    // A type of the same name may have come in its place.
    const auto named = by_name_.find(read.name);
    if (named != by_name_.end() && named->second == id) by_name_.erase(named);
    read = {};
  }
}

/// Has a joint type take in the events of its members.
void KeptTypes::join(const EventType& joint) {
  Read& read = read_[joint.id];
  if (!read.members.empty()) return;
  for (const JointMember& member : joint.members) {
    read.members.push_back(member.type);
    hold(read_[member.type].joints, joint.id, true);
  }
}

void KeptTypes::unjoin(TypeId joint) {
  for (const TypeId member : std::exchange(read_[joint].members, {})) {
    hold(read_[member].joints, joint, false);
  }
}

}  // namespace gorgo::dispatch

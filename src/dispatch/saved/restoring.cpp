#include "dispatch/saved/restoring.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <utility>

#include "dispatch/saved/cells.hpp"
#include "dispatch/saved/saved_panes.hpp"

namespace gorgo::dispatch {
namespace {

Error damaged(const std::string& what) {
  return {"what was saved is damaged: " + what, "use an older snapshot"};
}

template <class Table>
const Table* verified(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  constexpr flatbuffers::uoffset_t kMostTables = 1'000'000'000;
  flatbuffers::Verifier verifier(data, bytes.size(), 64, kMostTables);
  return verifier.VerifyBuffer<Table>() ? flatbuffers::GetRoot<Table>(data) : nullptr;
}

template <class T>
std::optional<T> value_of(const flatbuffers::Optional<T>& value) {
  return value ? std::optional<T>(*value) : std::nullopt;
}

std::size_t size_of(const auto* vector) { return vector == nullptr ? 0 : vector->size(); }

/// The values of one attribute of some events, after a check that there are `count`.
class ColumnReader {
 public:
  ColumnReader(const saved::Column& column, ValueType type) : column_(column), type_(type) {}

  bool fits(std::size_t count, bool nullable) const {
    if (size_of(column_.present()) != (nullable ? count : 0)) return false;
    if (type_ != ValueType::string) return size_of(column_.words()) == count;
    if (size_of(column_.lengths()) != count) return false;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += column_.lengths()->Get(at(i));
    return bytes == size_of(column_.text());
  }

  /// The value of event `i`; to be asked in order.
  Datum next(std::size_t i) {
    const std::string_view text = type_ == ValueType::string ? next_text(i) : std::string_view();
    if (size_of(column_.present()) > 0 && column_.present()->Get(at(i)) == 0) return Datum::none();
    switch (type_) {
      case ValueType::integer:
        return Datum::of(std::bit_cast<std::int64_t>(column_.words()->Get(at(i))));
      case ValueType::floating:
        return Datum::of(std::bit_cast<double>(column_.words()->Get(at(i))));
      case ValueType::boolean:
        return Datum::of(column_.words()->Get(at(i)) != 0);
      case ValueType::string:
        return Datum::of(text);
    }
    return Datum::none();
  }

 private:
  const saved::Column& column_;
  const ValueType type_;
  std::size_t used_ = 0;  // bytes of `text`

  static flatbuffers::uoffset_t at(std::size_t i) { return static_cast<flatbuffers::uoffset_t>(i); }
  std::string_view next_text(std::size_t i) {
    const auto* bytes = reinterpret_cast<const char*>(column_.text()->data());
    const std::size_t begin = used_;
    used_ += column_.lengths()->Get(at(i));
    return {bytes + begin, used_ - begin};
  }
};

}  // namespace

Result<void> Restoring::take(std::span<const std::byte> saved) {
  if (state_ == nullptr) return take_first(saved);
  return rule_parts_ > 0 ? take_rules(saved) : take_events(saved);
}

Result<void> Restoring::take_first(std::span<const std::byte> bytes) {
  const auto* state = verified<saved::State>(bytes);
  if (state == nullptr) return damaged("the state");
  state_ = std::shared_ptr<saved::StateT>(state->UnPack());
  rule_parts_ = state_->rule_parts;
  return rule_parts_ > 0 ? Result<void>() : take_state();
}

Result<void> Restoring::take_rules(std::span<const std::byte> bytes) {
  const auto* rules = verified<saved::Rules>(bytes);
  if (rules == nullptr) return damaged("the rules");
  const std::unique_ptr<saved::RulesT> part(rules->UnPack());
  std::ranges::move(part->sources, std::back_inserter(state_->sources));
  std::ranges::move(part->rules, std::back_inserter(state_->rules));
  return --rule_parts_ > 0 ? Result<void>() : take_state();
}

Result<void> Restoring::take_state() {
  if (auto types = take_types(); !types) return types;
  for (const auto& store : state_->stores) {
    if (store->type != kTimerType && !schema_.knows(store->type)) return damaged("a store's type");
    if (store->begin > store->end || store->again > store->end) return damaged("a store");
    history_.restore(schema_.at(store->type), {.begin = store->begin,
                                               .end = store->end,
                                               .horizon = store->horizon,
                                               .too_deep = store->too_deep,
                                               .again = store->again});
  }
  // The rules come before the events, so that their indexes take the events in as these come.
  auto rules = rules_by_number();
  if (!rules) return rules.error();
  rules_.restore(schema_, std::move(*rules), state_->rule_serials, history_);
  return {};
}

/// Ids stay what they were. A type that has gone leaves its id taken.
Result<void> Restoring::take_types() {
  auto type = state_->types.begin();
  for (TypeId id = schema_.size(); id < state_->type_ids; ++id) {
    if (type == state_->types.end() || (*type)->id != id) {
      const std::string gone = "gone " + std::to_string(id);  // no name of a type has a blank
      schema_.add({.name = gone, .attributes = {}, .number = {}});
      schema_.remove(gone);
      continue;
    }
    EventType added{.name = (*type)->name, .attributes = {}, .number = {}};
    for (const auto& attribute : (*type)->attributes) {
      if (attribute->type > static_cast<std::uint8_t>(ValueType::string)) return damaged("a type");
      added.attributes.push_back({attribute->name, static_cast<ValueType>(attribute->type)});
    }
    if ((*type)->origin > static_cast<std::uint8_t>(TypeOrigin::internal)) return damaged("a type");
    added.origin = static_cast<TypeOrigin>((*type)->origin);
    if ((*type)->number) added.number = *(*type)->number;
    if (!take_members(**type, added)) return damaged("the types of a state over several types");
    if (schema_.find(added.name) != nullptr) return damaged("a type that is there twice");
    schema_.add(std::move(added));
    ++type;
  }
  return type == state_->types.end() ? Result<void>() : damaged("the types");
}

/// The members of a joint type have lower ids. False: they cannot be so.
bool Restoring::take_members(const saved::TypeT& type, EventType& joint) const {
  for (const auto& saved : type.members) {
    const bool is_known = saved->type < type.id && schema_.knows(saved->type);
    if (!is_known || saved->attributes.size() + 1 != joint.attributes.size()) return false;
    const auto& attributes = schema_.at(saved->type).attributes;
    for (std::size_t i = 0; i < saved->attributes.size(); ++i) {
      const std::uint32_t index = saved->attributes[i];
      if (index >= attributes.size() || attributes[index] != joint.attributes[i]) return false;
    }
    joint.members.push_back({saved->type, saved->attributes});
  }
  joint.key = type.key;
  const bool is_key = std::ranges::all_of(
      joint.key, [&](std::uint32_t index) { return index + 1 < joint.attributes.size(); });
  if (!is_key || (joint.table() && joint.members.size() != 1)) return false;
  return true;
}

Result<void> Restoring::take_events(std::span<const std::byte> bytes) {
  const auto* events = verified<saved::Events>(bytes);
  if (events == nullptr || !history_.keeps(events->type())) return damaged("events");
  const history::EventStore& store = history_.store(events->type());
  const std::size_t count = size_of(events->timestamps());
  const std::size_t width = store.attributes();
  if (events->first() != store.end() || size_of(events->roots()) != count ||
      size_of(events->columns()) != width) {
    return damaged("events");
  }
  cells_.assign(count * width, {});
  for (std::uint32_t column = 0; column < width; ++column) {
    ColumnReader values(*events->columns()->Get(column), store.attribute_type(column));
    if (!values.fits(count, store.is_nullable())) return damaged("events");
    for (std::size_t i = 0; i < count; ++i) cells_[i * width + column] = values.next(i);
  }
  events_.clear();
  for (flatbuffers::uoffset_t i = 0; i < count; ++i) {
    events_.push_back({.timestamp = events->timestamps()->Get(i),
                       .root = events->roots()->Get(i),
                       .cells = cells_.data() + i * width});
  }
  history_.append(events->type(), events_);
  history_.settle(events->type());
  for (const history::Chore& chore : history_.chores(events->type())) chore();
  return {};
}

Result<void> Restoring::finish() {
  if (state_ == nullptr) return damaged("the state is missing");
  if (rule_parts_ > 0) return damaged("rules are missing");
  for (const auto& store : state_->stores) {
    if (history_.store(store->type).end() != store->end) return damaged("events are missing");
    history_.restore_late(store->type, store->late, store->latest);
  }
  for (const auto& rule : state_->rules) {
    if (auto restored = restore_state(*rule); !restored) return restored;
  }
  dispatcher_.restore(value_of(state_->clock), state_->roots);
  counters_.accepted = state_->counters->accepted;
  counters_.composites = state_->counters->composites;
  counters_.late = state_->counters->late;
  counters_.dropped_depth = state_->counters->dropped_depth;
  counters_.dropped_composites = state_->counters->dropped_composites;
  counters_.passed_over = state_->counters->passed_over;
  return restore_input();
}

Result<std::vector<RuleSet::Saved>> Restoring::rules_by_number() const {
  std::vector<TextAgain> texts;
  for (const auto& source : state_->sources) {
    auto text = text_again(*source);
    if (!text) return text.error();
    texts.push_back(std::move(*text));
  }
  std::vector<RuleSet::Saved> rules(state_->rule_numbers);
  for (const auto& rule : state_->rules) {
    if (rule->number >= rules.size() || rule->source >= texts.size()) return damaged("a rule");
    const auto& [text, plans] = texts[rule->source];
    const auto plan = plans.find(rule->name);
    if (plan == plans.end()) return damaged("rule " + rule->name + " has no text");
    RuleSet::Saved& restored = rules[rule->number];
    restored.text = text;
    restored.plan = plan->second;
    restored.serial = rule->serial;
    restored.engine = rule->engine.empty() ? std::string(kAutomatic) : rule->engine;
    restored.first_terminator = rule->first_terminator;
    restored.events_before = rule->events_before;
  }
  return {std::in_place, std::move(rules)};
}

Result<Restoring::TextAgain> Restoring::text_again(const saved::SourceT& source) const {
  RuleText text;
  text.source.path = source.path;
  text.source.text = source.text;
  CheckedText checked = rules_.check_again(text, schema_);
  if (checked.diagnostics.failed()) {
    return Error{"rules that were in force are refused now: " + checked.diagnostics.render(),
                 "start the program that saved them"};
  }
  text.rules = checked.plans.size();
  TextAgain again{std::make_shared<const RuleText>(std::move(text)), {}};
  for (const auto& plan : checked.plans) again.plans.emplace(plan->rule.name, plan);
  return again;
}

Result<void> Restoring::restore_state(const saved::RuleT& rule) {
  engine::RuleState& state = rules_.state(rule.number);
  const auto& states = rules_.rule(rule.number).rule().states;
  if (rule.consumed.size() != states.size()) return damaged("what a rule has consumed");
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto& slots = rule.consumed[i]->slots;
    if (!slots.empty() && state.consumed.empty()) return damaged("what a rule has consumed");
    for (const saved::Consumed& slot : slots) {
      state.consumed[i].insert(slot.slot(), slot.by());
    }
  }
  for (const auto& pending : rule.pending) {
    engine::PendingComposite composite{.terminator = {pending->root, pending->depth, pending->path},
                                       .sequence = pending->sequence,
                                       .cells = restored_cells(*pending->cells),
                                       .texts = {},
                                       .events = {}};
    const bool fits = pending->events.size() == states.size() &&
                      composite.cells.size() == pending->cells->tags.size();
    if (!fits) return damaged("a composite that waits");
    for (std::size_t i = 0; i < states.size(); ++i) {
      const auto& store = history_.store(states[i].predicate.type);
      const history::Slot slot = pending->events[i];
      if (slot < store.begin() || slot >= store.end()) return damaged("a composite that waits");
      composite.events.push_back({&store, slot});
    }
    state.own_timed().pending.emplace(pending->deadline, std::move(composite));
  }
  if (!rule.pending.empty()) state.own_timed().restored = state_;
  for (const saved::Decided& decided : rule.decided) {
    state.own_timed().decided.push_back(
        {decided.terminator(), decided.sequence(), decided.visible_roots()});
  }
  for (const auto& produced : rule.produced) {
    if (produced->times.empty()) return damaged("what a rule has produced");
    std::ranges::sort(produced->times);
    state.own_timed().produced.restore({produced->key.begin(), produced->key.end()},
                                       produced->times);
  }
  for (const saved::Cut& cut : rule.cut) {
    state.own_timed().cut.push_back({cut.terminator(), cut.count()});
  }
  const auto& every = rules_.rule(rule.number).rule().every;
  for (const auto& counted : rule.counted) {
    const bool fits = every && counted->events > 0 && counted->events < every->events;
    if (!fits) return damaged("what a rule has counted");
    state.own_timed().counts.restore({counted->key.begin(), counted->key.end()}, counted->events);
  }
  if (!rule.panes.empty() && !restore_panes(rule, state.own_timed().panes)) {
    return damaged("panes");
  }
  state.deployed_at = value_of(rule.deployed_at);
  if (rules_.rule(rule.number).has_timer) {
    state.own_timed().timer_from = value_of(rule.timer_from);
    state.own_timed().timer_at = value_of(rule.timer_at);
    state.own_timed().skipped_instants = rule.skipped_instants;
  }
  state.terminators = rule.terminators;
  state.composites = rule.composites;
  state.overflows = rule.overflows;
  state.suspended = rule.suspended;
  state.passed_over = rule.passed_over;
  return {};
}

Result<void> Restoring::restore_input() {
  Sequencer::Marks marks{.received = value_of(state_->received),
                         .released = value_of(state_->released),
                         .stamps = state_->stamps,
                         .late = std::vector<Sequencer::LateCounts>(state_->type_ids)};
  for (const auto& type : state_->types) marks.late[type->id] = {type->late, type->too_late};
  sequencer_.restore(std::move(marks));
  for (const auto& arrived : state_->arrived) {
    arrivals_.restore(arrived->type,
                      {.accepted = arrived->accepted,
                       .no_value = arrived->no_value,
                       .attributes = {arrived->attributes.begin(), arrived->attributes.end()}});
  }
  for (const auto& held : state_->held) {
    const auto cells = restored_cells(*held->cells);
    if (cells.size() != held->names.size()) return damaged("an event that is held");
    const std::vector<std::string_view> names(held->names.begin(), held->names.end());
    const auto header = make_header_(held->type, names);
    header->resolve(rules_.schema());
    sequencer_.restore_held(header, held->timestamp, cells.data());
  }
  return {};
}

}  // namespace gorgo::dispatch

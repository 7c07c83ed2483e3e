#include "dispatch/saved/saving.hpp"

#include <algorithm>
#include <utility>

#include "dispatch/saved/cells.hpp"
#include "dispatch/saved/saved_panes.hpp"

namespace gorgo::dispatch {
namespace {

using SavedPart = Processor::SavedPart;

constexpr std::size_t kRulesAtOnce = 128;  // in one part

template <class T>
flatbuffers::Optional<T> optional(const std::optional<T>& value) {
  return value ? flatbuffers::Optional<T>(*value) : flatbuffers::nullopt;
}

/// The finished buffer, without a copy. `memory`: where the builder has it from; null: the heap.
SavedPart release(flatbuffers::FlatBufferBuilder& builder, std::shared_ptr<SavedBuffers> memory) {
  struct Part {
    std::shared_ptr<SavedBuffers> memory;
    flatbuffers::DetachedBuffer buffer;
  };
  const auto part = std::make_shared<const Part>(Part{std::move(memory), builder.Release()});
  return {part, std::as_bytes(std::span(part->buffer.data(), part->buffer.size()))};
}

saved::TypeT saved_type(const EventType& type, Sequencer::LateCounts late) {
  saved::TypeT result;
  result.id = type.id;
  result.name = type.name;
  for (const AttributeType& attribute : type.attributes) {
    auto& added = result.attributes.emplace_back(std::make_unique<saved::AttributeT>());
    added->name = attribute.name;
    added->type = static_cast<std::uint8_t>(attribute.type);
  }
  result.origin = static_cast<std::uint8_t>(type.origin);
  result.number = optional(type.number);
  result.late = late.late;
  result.too_late = late.too_late;
  for (const JointMember& member : type.members) {
    auto& added = result.members.emplace_back(std::make_unique<saved::MemberT>());
    added->type = member.type;
    added->attributes = member.attributes;
  }
  result.key = type.key;
  return result;
}

saved::PendingT saved_pending(Timestamp deadline, const engine::PendingComposite& pending) {
  saved::PendingT result;
  result.deadline = deadline;
  result.root = pending.terminator.root;
  result.depth = pending.terminator.depth;
  result.path = pending.terminator.path;
  result.sequence = pending.sequence;
  result.cells = std::make_unique<saved::CellsT>(saved_cells(pending.cells));
  for (const history::EventRef& event : pending.events) result.events.push_back(event.slot);
  return result;
}

saved::RuleT nothing_remembered(const Rule& rule) {
  saved::RuleT result;
  for (std::size_t i = 0; i < rule.states.size(); ++i) {
    result.consumed.push_back(std::make_unique<saved::ConsumedSlotsT>());
  }
  return result;
}

/// What a rule remembers beside events and counts.
saved::RuleT memory_of(const DeployedRule& rule) {
  const engine::RuleState& state = rule.state;
  const engine::TimedState& timed = state.timed();
  saved::RuleT result = nothing_remembered(rule.rule());
  for (std::size_t i = 0; i < state.consumed.size(); ++i) {
    state.consumed[i].for_each([&](history::Slot slot, history::Slot by) {
      result.consumed[i]->slots.emplace_back(slot, by);
    });
  }
  for (const auto& [deadline, pending] : timed.pending) {
    result.pending.push_back(std::make_unique<saved::PendingT>(saved_pending(deadline, pending)));
  }
  for (std::uint64_t i = timed.decided.begin(); i < timed.decided.end(); ++i) {
    const engine::DecidedComposite& decided = timed.decided[i];
    result.decided.emplace_back(decided.terminator, decided.visible_roots, decided.sequence);
  }
  timed.produced.for_each([&](const std::string& key, const auto& times) {
    auto& added = result.produced.emplace_back(std::make_unique<saved::ProducedT>());
    added->key.assign(key.begin(), key.end());
    added->times = times;
  });
  for (std::uint64_t i = timed.cut.begin(); i < timed.cut.end(); ++i) {
    result.cut.emplace_back(timed.cut[i].terminator, timed.cut[i].count);
  }
  timed.counts.for_each([&](const std::string& key, std::uint64_t events) {
    auto& added = result.counted.emplace_back(std::make_unique<saved::CountedT>());
    added->key.assign(key.begin(), key.end());
    added->events = events;
  });
  save_panes(timed.panes, result);
  result.timer_from = optional(timed.timer_from);
  result.timer_at = optional(timed.timer_at);
  result.skipped_instants = timed.skipped_instants;
  return result;
}

saved::StoreT saved_store(TypeId type, const history::EventStore& store) {
  saved::StoreT result;
  result.type = type;
  result.begin = store.begin();
  result.end = store.end();
  result.horizon = store.horizon();
  result.latest = store.latest();
  result.late = store.late();
  result.again = store.again();
  result.too_deep.assign(store.too_deep().begin(), store.too_deep().end());
  return result;
}

/// Some events of a store that follow each other.
struct Stretch {
  history::Slot first = 0;
  std::size_t count = 0;
  std::size_t bytes = 0;  ///< that they take in memory, about
};

/// As many events from `first` on as take so many bytes, and one at least. Precondition: there is
/// one before `end`.
Stretch stretch_of(const history::EventStore& store, history::Slot first, history::Slot end,
                   std::size_t bytes) {
  const std::size_t each =
      sizeof(Timestamp) + sizeof(std::uint64_t) * (std::size_t{1} + store.attributes());
  std::vector<const std::string_view*> texts;
  for (std::uint32_t i = 0; i < store.attributes(); ++i) {
    if (store.attribute_type(i) != ValueType::string) continue;
    texts.push_back(store.attribute_vector(i).strings(first));
  }
  const std::size_t most = end - first;
  if (texts.empty()) {
    const std::size_t count = std::clamp<std::size_t>(bytes / each, 1, most);
    return {first, count, count * each};
  }
  Stretch stretch{first};
  while (stretch.count < most && (stretch.count == 0 || stretch.bytes < bytes)) {
    stretch.bytes += each;
    for (const std::string_view* text : texts) stretch.bytes += text[stretch.count].size();
    ++stretch.count;
  }
  return stretch;
}

/// How much the events take when they are saved, at most, so that their buffer never grows. Large
/// ones are rounded up, so that buffers fit again.
std::size_t saved_bytes(const history::EventStore& store, const Stretch& events) {
  constexpr std::size_t kBesideColumn = 64, kBesideEvents = 256, kLarge = std::size_t{64} << 10;
  const std::size_t presence = store.is_nullable() ? events.count : 0;
  const std::size_t most =
      kBesideEvents + events.bytes + store.attributes() * (kBesideColumn + presence);
  return most < kLarge ? most : (most + kLarge - 1) / kLarge * kLarge;
}

flatbuffers::Offset<saved::Column> add_column(flatbuffers::FlatBufferBuilder& builder,
                                              const history::AttributeVector& values,
                                              history::Slot first, std::size_t count) {
  flatbuffers::Offset<flatbuffers::Vector<std::uint64_t>> words;
  flatbuffers::Offset<flatbuffers::Vector<std::uint32_t>> lengths;
  flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> text, present;
  if (values.type() == ValueType::string) {
    std::vector<std::uint32_t> each;
    std::vector<std::uint8_t> bytes;
    for (const std::string_view value : std::span(values.strings(first), count)) {
      each.push_back(static_cast<std::uint32_t>(value.size()));
      bytes.insert(bytes.end(), value.begin(), value.end());
    }
    lengths = builder.CreateVector(each);
    text = builder.CreateVector(bytes);
  } else {
    words = builder.CreateVector(values.words(first), count);
  }
  if (values.is_nullable()) present = builder.CreateVector(values.present(first), count);
  return saved::CreateColumn(builder, words, lengths, text, present);
}

SavedPart saved_events(TypeId type, const history::EventStore& store, const Stretch& events,
                       const std::shared_ptr<SavedBuffers>& memory) {
  const auto [first, count, bytes] = events;
  flatbuffers::FlatBufferBuilder builder(saved_bytes(store, events), memory.get());
  std::vector<flatbuffers::Offset<saved::Column>> columns;
  for (std::uint32_t i = 0; i < store.attributes(); ++i) {
    columns.push_back(add_column(builder, store.attribute_vector(i), first, count));
  }
  const auto timestamps = builder.CreateVector(store.timestamps(first), count);
  const auto roots = builder.CreateVector(store.roots(first), count);
  builder.Finish(
      saved::CreateEvents(builder, type, first, timestamps, roots, builder.CreateVector(columns)));
  return release(builder, memory);
}

void add_arrivals(const Arrivals& arrivals, saved::StateT& state) {
  for (const auto& [name, type] : arrivals.types()) {
    auto& added = state.arrived.emplace_back(std::make_unique<saved::ArrivedT>());
    added->type = name;
    added->accepted = type.accepted;
    added->no_value = type.no_value;
    added->attributes.assign(type.attributes.begin(), type.attributes.end());
  }
}

void add_input(const Sequencer& sequencer, saved::StateT& state) {
  const Sequencer::Marks marks = sequencer.marks();
  state.received = optional(marks.received);
  state.released = optional(marks.released);
  state.stamps = marks.stamps;
  sequencer.for_each_held(
      [&](Timestamp timestamp, const Header& header, std::span<const Datum> cells) {
        auto& added = state.held.emplace_back(std::make_unique<saved::HeldT>());
        added->timestamp = timestamp;
        added->type = header.type();
        added->names = header.names();
        added->cells = std::make_unique<saved::CellsT>(saved_cells(cells));
      });
}

}  // namespace

/// The number of the text that a rule stands in. Rules of one text follow each other mostly.
std::uint32_t Saving::source_of(const DeployedRule& rule, TextNumbers& numbers) {
  if (!moments_.empty() && texts_[moments_.back().source] == rule.text) {
    return moments_.back().source;
  }
  const auto next = static_cast<std::uint32_t>(texts_.size());
  const auto [known, is_new] = numbers.try_emplace(rule.text.get(), next);
  if (is_new) texts_.push_back(rule.text);
  return known->second;
}

/// Notes what evaluation changes of the rules in force, and the texts that they come from. An
/// error: it would be too much. All rules are looked at in one turn, so little is done for each.
Result<void> Saving::note_rules() {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  std::size_t bytes = 0;
  TextNumbers numbers;
  moments_.reserve(rules_.size());
  for (std::uint32_t number = 0; number < rules_.numbers(); ++number) {
    const DeployedRule& rule = rules_.rule(number);
    if (rule.is_removed()) continue;
    const engine::RuleState& state = rule.state;
    Moment& moment = moments_.emplace_back(Moment{.number = number,
                                                  .source = source_of(rule, numbers),
                                                  .terminators = state.terminators,
                                                  .composites = state.composites,
                                                  .overflows = state.overflows,
                                                  .passed_over = state.passed_over,
                                                  .suspended = state.suspended,
                                                  .memory = nullptr});
    const std::size_t remembered = state.bytes();
    bytes += remembered;
    if (bytes > kMost) {
      return Error{
          "rules remember more than 1024 MiB beside events, which cannot be saved",
          "rules that consume, wait for many deadlines or have `@panes` may have shorter windows"};
    }
    if (remembered > 0) moment.memory = std::make_shared<saved::RuleT>(memory_of(rule));
  }
  return note_texts();
}

/// An error: a text whose rules are not all in force, and which would be refused on its own.
Result<void> Saving::note_texts() {
  std::vector<std::size_t> in_force(texts_.size());
  for (const Moment& moment : moments_) ++in_force[moment.source];
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    if (in_force[i] == texts_[i]->rules) continue;
    const CheckedText again = rules_.check_again(*texts_[i], rules_.schema());
    if (!again.diagnostics.failed()) continue;
    return Error{
        "the text " + texts_[i]->source.path + " of which some rules have gone cannot be saved",
        "deploy its other rules anew: " + again.diagnostics.render()};
  }
  return {};
}

void Saving::forget_rules() {
  texts_ = {};
  moments_ = {};
  next_text_ = next_moment_ = 0;
}

std::uint32_t Saving::rule_parts() const {
  return static_cast<std::uint32_t>(texts_.size() +
                                    (moments_.size() + kRulesAtOnce - 1) / kRulesAtOnce);
}

saved::RuleT Saving::rule_at(Moment& moment) const {
  const DeployedRule& rule = rules_.rule(moment.number);
  saved::RuleT result = moment.memory ? std::move(*moment.memory) : nothing_remembered(rule.rule());
  result.number = moment.number;
  result.serial = rule.serial;
  result.source = moment.source;
  result.name = rule.rule().name;
  if (!rule.placement.is_automatic()) result.engine = rule.placement.engine().name();
  result.deployed_at = optional(rule.state.deployed_at);
  result.terminators = moment.terminators;
  result.composites = moment.composites;
  result.overflows = moment.overflows;
  result.first_terminator = rule.first_terminator;
  result.events_before = rule.events_before;
  result.suspended = moment.suspended;
  result.passed_over = moment.passed_over;
  return result;
}

/// The next text, or the next rules; unset: there are no more.
std::optional<SavedPart> Saving::next_rules() {
  saved::RulesT part;
  if (next_text_ < texts_.size()) {
    const RuleText& text = *texts_[next_text_++];
    auto& source = part.sources.emplace_back(std::make_unique<saved::SourceT>());
    source->path = text.source.path;
    source->text = text.source.text;
  } else if (next_moment_ < moments_.size()) {
    const std::size_t end = std::min(next_moment_ + kRulesAtOnce, moments_.size());
    for (; next_moment_ < end; ++next_moment_) {
      part.rules.push_back(std::make_unique<saved::RuleT>(rule_at(moments_[next_moment_])));
    }
  } else {
    return std::nullopt;
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(saved::Rules::Pack(builder, &part));
  return release(builder, nullptr);
}

void Saving::add_counters(saved::StateT& state) const {
  state.counters = std::make_unique<saved::CountersT>();
  state.counters->accepted = counters_.accepted;
  state.counters->composites = counters_.composites;
  state.counters->late = counters_.late;
  state.counters->dropped_depth = counters_.dropped_depth;
  state.counters->dropped_composites = counters_.dropped_composites;
  state.counters->passed_over = counters_.passed_over;
}

Result<SavedPart> Saving::begin() {
  forget_rules();
  if (auto noted = note_rules(); !noted) {
    forget_rules();
    return noted.error();
  }
  saved::StateT state;
  state.clock = optional(dispatcher_.clock());
  state.roots = dispatcher_.roots();
  add_counters(state);
  add_input(sequencer_, state);
  add_arrivals(arrivals_, state);
  const Schema& schema = rules_.schema();
  state.type_ids = schema.size();
  for (TypeId id = kTimerType + 1; id < schema.size(); ++id) {
    if (!schema.knows(id)) continue;
    state.types.push_back(
        std::make_unique<saved::TypeT>(saved_type(schema.at(id), sequencer_.late(id))));
  }
  state.rule_numbers = static_cast<std::uint32_t>(rules_.numbers());
  state.rule_serials = rules_.serials();
  state.rule_parts = rule_parts();
  rest_.clear();
  for (const TypeId type : history_.kept_types()) {
    const history::EventStore& store = history_.store(type);
    state.stores.push_back(std::make_unique<saved::StoreT>(saved_store(type, store)));
    rest_.push_back({type, store.begin(), store.end()});
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(saved::State::Pack(builder, &state));
  buffers_ = std::make_shared<SavedBuffers>();
  history_.hold();
  is_on_ = true;  // from here on `end` lets go of what is held
  return release(builder, nullptr);
}

std::optional<SavedPart> Saving::next(std::size_t bytes) {
  if (auto rules = next_rules()) return rules;
  while (!rest_.empty() && rest_.back().next == rest_.back().end) {
    history_.let_go(rest_.back().type);
    rest_.pop_back();
  }
  if (rest_.empty()) return std::nullopt;
  Rest& rest = rest_.back();
  const history::EventStore& store = history_.store(rest.type);
  const Stretch events = stretch_of(store, rest.next, rest.end, bytes);
  rest.next += events.count;
  return saved_events(rest.type, store, events, buffers_);
}

void Saving::end() {
  for (const Rest& rest : rest_) history_.let_go(rest.type);
  rest_.clear();
  forget_rules();
  buffers_ = nullptr;
  is_on_ = false;
}

}  // namespace gorgo::dispatch

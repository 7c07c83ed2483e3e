#include "server/rules/shadow.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/arithmetic.hpp"
#include "dispatch/rules/rule_base.hpp"
#include "language/joint_types.hpp"

namespace gorgo::server {
namespace {

using Side = CompositeDifference::Side;

/// Composites that differ in one turn may take so much, so that a shadow never takes the memory
/// that the rules in force need.
constexpr std::size_t kMostWaiting = std::size_t{64} << 20;
constexpr std::uint32_t kSomeEvents = 4096;

/// One thread: the others are for the rules in force. Events come as those have released them.
ProcessorOptions options_of(ProcessorOptions options) {
  options.threads = 1;
  options.lateness = 0;
  options.max_ahead = std::nullopt;
  options.remember = 0;
  options.clock = nullptr;
  options.on_suspension = nullptr;
  options.on_alarm = nullptr;
  return options;
}

/// Adds the rows of a table whose events are among the types.
void add_table(TypeId id, const Schema& known, Schema& types) {
  if (!known.knows(id) || !known.at(id).table()) return;
  EventType rows = known.at(id);
  const EventType* const events = types.find(known.at(rows.members.front().type).name);
  if (events == nullptr) return;
  rows.id = kNoType;
  rows.members.front().type = events->id;
  types.add(std::move(rows));
}

/// What is known of types without the rules of the text: those of other rules come as events.
Schema types_beside(const dispatch::CheckedText& text) {
  std::set<std::string> own;
  for (const auto& plan : text.plans) own.insert(text.schema.at(plan->rule.type).name);
  Schema types;
  for (const std::string& name : text.schema.names()) {
    if (own.contains(name)) continue;
    EventType type = *text.schema.find(name);
    type.id = kNoType;
    types.add(std::move(type));
  }
  for (TypeId id = 0; id < text.schema.size(); ++id) add_table(id, text.schema, types);
  return types;
}

}  // namespace

Shadow::Shadow(const dispatch::CheckedText& text, ProcessorOptions options)
    : options_(options_of(std::move(options))),
      types_(types_beside(text)),
      processor_(std::in_place, options_),
      name_(text.source.path),
      text_(text.source.text) {
  processor_->adopt(types_);
  diagnostics_ = processor_->deploy(name_, text_);
  for (const RuleInfo& rule : processor_->rules()) {
    rules_.insert(rule.name);
    read_.insert(rule.reads.begin(), rule.reads.end());
  }
}

void Shadow::start(Names replaced, const Processor& deployed, std::string who, Timestamp now) {
  replaced_ = std::move(replaced);
  who_ = std::move(who);
  since_ = now;
  clock_ = deployed.clock();
  attempt([&] { take_rows(deployed); });
}

/// Rows come before the rules, so that these do not take them for news.
void Shadow::take_rows(const Processor& deployed) {
  BatchBuilder rows;
  deployed.copy_rows([this](std::string_view table) { return read_.contains(table); }, rows);
  if (rows.events() == 0) return;
  processor_.emplace(options_);
  processor_->adopt(types_);
  IncomingBatch batch(rows.batch());
  processor_->append(batch, [](const BatchCursor&, const Error&) {});
  processor_->process([](const OutputBatch&) {});
  given_ = processor_->clock();
  diagnostics_ = processor_->deploy(name_, text_);
}

template <class Action>
void Shadow::attempt(Action action) noexcept {
  if (!processor_) return;
  try {
    action();
    if (difference_.waiting_bytes() > kMostWaiting) {
      stop("more than 64 MiB of composites differed at once");
    }
  } catch (const std::bad_alloc&) {
    stop("no memory");
  } catch (const std::exception& failure) {
    stop(failure.what());
  }
}

void Shadow::stop(const char* why) {
  processor_.reset();
  stopped_ = why;
}

void Shadow::take(const OutputBatch& batch) noexcept {
  attempt([&] { give(batch); });
}

void Shadow::settle(std::optional<Timestamp> clock) noexcept {
  attempt([&] {
    clock_ = std::max(clock_, clock);
    reach(clock_);
    evaluate();
    difference_.settle();
    count();
  });
}

/// Its rules see the events that they read, in their order. The others only tell the time, which
/// matters before a late event.
void Shadow::give(const OutputBatch& batch) {
  BatchBuilder events;
  for (const OutputBatch::Row& row : batch.rows) {
    const bool is_composite = row.rule != OutputBatch::kPrimitive;
    clock_ = std::max(clock_, std::optional(row.timestamp));
    if (is_composite && replaced_.contains(batch.rule_names[row.rule])) {
      difference_.add(Side::deployed, batch, row);
      continue;
    }
    if (!read_.contains(batch.type_name(row))) continue;
    if (row.timestamp < *clock_ && given_ < clock_) {
      give(events);
      reach(clock_);
    }
    events.add(batch.type_name(row), row.timestamp);
    batch.for_each_attribute(
        row, [&](std::string_view name, const Datum& value) { events.attribute(name, value); });
    given_ = std::max(given_, std::optional(row.timestamp));
    if (events.events() >= kSomeEvents) give(events);
  }
  give(events);
  evaluate();
}

void Shadow::give(BatchBuilder& events) {
  if (events.events() == 0) return;
  IncomingBatch batch(events.batch());
  processor_->append(batch, [this](const BatchCursor&, const Error&) { ++refused_; });
  events_ += batch.accepted();
  events = {};
}

void Shadow::reach(std::optional<Timestamp> clock) {
  if (!clock || given_ >= clock) return;
  given_ = clock;
  static_cast<void>(processor_->tick(*clock));  // cannot be too far ahead, for nothing is
}

void Shadow::evaluate() {
  processor_->process([this](const OutputBatch& batch) {
    for (const OutputBatch::Row& row : batch.rows) {
      if (row.rule != OutputBatch::kPrimitive) difference_.add(Side::shadow, batch, row);
    }
  });
}

void Shadow::count() {
  if (filling_ || !clock_) return;
  if (!full_) full_ = arithmetic::saturating_add(*clock_, reach_of_rules());
  if (*clock_ < *full_) return;
  filling_ = difference_.counts();
  difference_.restart();
}

/// Composites of composites reach as far as their windows together. Tables have no window.
Duration Shadow::reach_of_rules() const {
  Duration sum = 0;
  for (const TypeInfo& type : processor_->types()) {
    if (language::is_rows_name(type.name)) continue;
    sum = arithmetic::saturating_add(sum, std::max(type.reach, type.reach_of_panes));
  }
  return sum;
}

wire::ShadowInfoT Shadow::info(const std::function<bool(std::string_view type)>& may_see) const {
  wire::ShadowInfoT info;
  info.name = name_;
  info.who = who_;
  info.since = since_;
  info.rules.assign(rules_.begin(), rules_.end());
  info.replaced.assign(replaced_.begin(), replaced_.end());
  info.events = events_;
  info.refused = refused_;
  info.filling = !filling_;
  info.full_at = full_.value_or(0);
  const auto& now = difference_.counts();
  info.both = now.both;
  info.only_deployed = now.only[0];
  info.only_shadow = now.only[1];
  if (filling_) {
    info.both_before = filling_->both;
    info.only_deployed_before = filling_->only[0];
    info.only_shadow_before = filling_->only[1];
  }
  const auto show = [&](Side side, std::vector<std::string>& lines) {
    for (const auto& sample : difference_.samples(side)) {
      if (may_see(sample.type)) lines.push_back(sample.line);
    }
  };
  show(Side::deployed, info.deployed_samples);
  show(Side::shadow, info.shadow_samples);
  info.stopped = stopped_;
  return info;
}

}  // namespace gorgo::server

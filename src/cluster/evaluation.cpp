#include "cluster/evaluation.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace gorgo::cluster {
namespace {

constexpr std::uint32_t kMostComposites = 4096;  // in one message

/// That a row takes in a message of its own, at most.
std::size_t bytes_of(const OutputBatch& batch, const OutputBatch::Row& row) {
  constexpr std::size_t kRoom = 64;
  std::size_t all = kRoom + batch.type_name(row).size();
  batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
    all += kRoom + name.size() + value.length;
  });
  return all;
}

ProcessorOptions of_a_partition(ProcessorOptions options) {
  options.threads = 1;
  options.max_rule_time = 0;  // how fast a machine is decides no result
  options.hands_out = [](std::string_view) { return false; };  // so composites alone come out
  return options;
}

}  // namespace

/// Makes output messages of what the processor hands out for one input message. Where it cuts
/// depends on the composites alone.
class Evaluation::Collector {
 public:
  Collector(std::uint64_t sequence, std::uint64_t roots) : sequence_(sequence), roots_(roots) {}

  void take(const OutputBatch& batch) {
    for (const OutputBatch::Row& row : batch.rows) {
      if (bytes_of(batch, row) > kMostEventBytes) {
        too_large_ = batch.type_name(row);
        continue;
      }
      last_ = {sequence_, static_cast<std::uint32_t>(row.place.root - roots_ - 1),
               row.place.ordinal};
      builder_.add(batch.type_name(row), row.timestamp);
      batch.for_each_attribute(
          row, [&](std::string_view name, const Datum& value) { builder_.attribute(name, value); });
      places_.push_back({sequence_, static_cast<std::uint32_t>(composites_ + places_.size() + 1)});
      if (places_.size() >= kMostComposites || builder_.bytes() >= kEnoughMessageBytes ||
          builder_.full()) {
        cut();
      }
    }
  }
  std::vector<OutputMessage> finish() {
    if (!places_.empty()) cut();
    return std::move(messages_);
  }
  std::uint64_t composites() const { return composites_; }
  /// The type of a composite that has more than `kMostEventBytes`, and is left out; empty: there
  /// was none.
  const std::string& too_large() const { return too_large_; }

 private:
  const std::uint64_t sequence_, roots_;
  std::string too_large_;
  BatchBuilder builder_;
  std::vector<Place> places_;
  OutputPlace last_;
  std::uint64_t composites_ = 0;  // in `messages_`
  std::vector<OutputMessage> messages_;

  void cut() {
    messages_.push_back({last_, encode_events(builder_.batch(), places_),
                         static_cast<std::uint32_t>(places_.size())});
    composites_ += places_.size();
    places_.clear();
    builder_ = BatchBuilder();
  }
};

Evaluation::Evaluation(ProcessorOptions options) : processor_(of_a_partition(std::move(options))) {}

void Evaluation::note(std::string problem) {
  ++counters_.problems;
  problem_ = "message " + std::to_string(state_.sequence) + ": " + std::move(problem);
}

std::vector<OutputMessage> Evaluation::take(const InputMessage& message) {
  state_.sequence = message.sequence;
  Collector collector(state_.sequence, processor_.roots());
  const auto collect = [&](const OutputBatch& batch) { collector.take(batch); };
  if (!message.rules.empty()) {
    take_rules(message, collector);
  } else {
    if (!message.clock.empty()) move_clock(message, collector);
    if (!message.payload.empty()) take_events(message, collector);
  }
  processor_.process(collect);
  auto messages = collector.finish();
  counters_.composites += collector.composites();
  if (!collector.too_large().empty()) {
    note("a composite of the type " + collector.too_large() + " is too large for the cluster");
  }
  return messages;
}

Result<void> Evaluation::restore(EvaluationState state, const Processor::NextSaved& next) {
  state_ = std::move(state);
  return processor_.restore(next);
}

void Evaluation::take_rules(const InputMessage& message, Collector& into) {
  const auto rules = RulesMessage::parse(message.payload);
  if (!rules) return note(rules.error().to_string());
  if (rules->version <= state_.rules_version) return;  // told again
  processor_.process([&](const OutputBatch& batch) { into.take(batch); });
  state_.rules_version = rules->version;
  deploy(*rules);
}

void Evaluation::deploy(const RulesMessage& rules) {
  if (is_saving()) end_save();
  const std::set<std::string> wanted(rules.rules.begin(), rules.rules.end());
  const auto put_in_force = [&](const RuleText& one) {
    const auto outcome = processor_.deploy(one.name, one.text, {.replace = true});
    if (outcome.failed()) note("the rules " + one.name + " are refused");
  };
  std::map<std::string, std::string> texts;
  for (const RuleText& one : rules.texts) {
    const auto known = state_.texts.find(one.name);
    if (known == state_.texts.end() || known->second != one.text) put_in_force(one);
    texts[one.name] = one.text;
  }
  state_.texts = std::move(texts);
  // A rule that comes from another family stands in a text that has not changed.
  const bool lacks_any = std::ranges::any_of(
      wanted, [&](const std::string& name) { return !processor_.has_rule(name); });
  if (lacks_any) std::ranges::for_each(rules.texts, put_in_force);
  for (const RuleInfo& rule : processor_.rules()) {
    if (wanted.contains(rule.name)) continue;
    if (auto removed = processor_.remove(rule.name); !removed) note(removed.error().to_string());
  }
  for (const std::string& name : wanted) {
    if (!processor_.has_rule(name)) note("no text has the rule " + name);
  }
}

void Evaluation::move_clock(const InputMessage& message, Collector& into) {
  Timestamp clock = 0;
  const char* const end = message.clock.data() + message.clock.size();
  if (std::from_chars(message.clock.data(), end, clock).ec != std::errc()) {
    return note("its clock is no number");
  }
  if (processor_.clock() && *processor_.clock() >= clock) return;
  if (auto ticked = processor_.tick(clock); !ticked) note(ticked.error().to_string());
  processor_.process([&](const OutputBatch& batch) { into.take(batch); });
}

void Evaluation::take_events(const InputMessage& message, Collector& into) {
  Place& last = state_.last_places[std::string(message.from)];
  const auto places = InputPlaces::parse(message.places);
  const auto events = ReceivedEvents::decode(message.payload);
  if (!events) return note(events.error().to_string());
  if (places && places->last <= last) {
    counters_.repeated += events->events();
    return;
  }
  append(*events, last, into);
}

void Evaluation::append(const ReceivedEvents& events, Place& last, Collector& into) {
  const auto& places = events.places();
  IncomingBatch batch(events.batch());
  while (!batch.done()) {
    // Events of one message may be known in part, where a gateway has cut them in another way.
    const Place& place = places[batch.next().position()];
    if (place <= last) {
      batch.leave_out();
      ++counters_.repeated;
      continue;
    }
    const std::uint32_t before = batch.accepted();
    const std::uint32_t from = batch.next().position();
    processor_.append(batch, [&](const BatchCursor&, const Error& why) {
      ++counters_.refused;
      problem_ = "message " + std::to_string(state_.sequence) + ": " + why.to_string();
    });
    counters_.events += batch.accepted() - before;
    const std::uint32_t end = batch.done() ? events.events() : batch.next().position();
    if (end > from) last = places[end - 1];
    if (!batch.done()) processor_.process([&](const OutputBatch& b) { into.take(b); });
  }
}

}  // namespace gorgo::cluster

#include "gorgo/processor.hpp"

#include <cassert>
#include <chrono>

#include "dispatch/dispatcher.hpp"
#include "dispatch/rule_set.hpp"
#include "dispatch/sequencer.hpp"

namespace gorgo {
namespace {

Timestamp system_clock_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::function<Timestamp()> clock_of(const ProcessorOptions& options) {
  return options.clock ? options.clock : system_clock_now;
}

}  // namespace

struct Processor::Impl {
  explicit Impl(const ProcessorOptions& options)
      : rules(options.engine),
        sequencer(clock_of(options), options.max_ahead),
        dispatcher(rules, history, counters,
                   {.max_depth = options.max_depth,
                    .max_composites = options.max_composites,
                    .max_held_composites = options.max_held_composites},
                   stop) {}

  std::atomic<bool> stop = false;
  ProcessorCounters counters;
  history::History history;
  dispatch::RuleSet rules;  // its evaluators refer to the history
  dispatch::Sequencer sequencer;
  dispatch::Dispatcher dispatcher;
  dispatch::Batch batch;

  // Scratch of append(Event).
  std::vector<std::string_view> names;
  std::vector<Datum> cells;
};

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const auto* engine : engine::engines()) names.emplace_back(engine->name());
  return names;
}

Processor::Processor(ProcessorOptions options) : impl_(std::make_unique<Impl>(options)) {}
Processor::~Processor() = default;
Processor::Processor(Processor&&) noexcept = default;
Processor& Processor::operator=(Processor&&) noexcept = default;

Diagnostics Processor::deploy(const std::string& name, const std::string& text, bool replace) {
  assert(pending() == 0);
  return impl_->rules.deploy(name, text, replace, impl_->sequencer.clock(), impl_->history);
}

Result<void> Processor::remove(std::string_view rule) {
  assert(pending() == 0);
  return impl_->rules.remove(rule, impl_->history);
}

std::vector<RuleInfo> Processor::rules() const {
  std::vector<RuleInfo> list;
  for (const auto& deployed : impl_->rules.rules()) {
    const Rule& rule = deployed.rule();
    list.push_back({.name = rule.name,
                    .type = schema().at(rule.type).name,
                    .engine = std::string(deployed.engine->name()),
                    .text = rule.text,
                    .terminators = deployed.state.terminators,
                    .composites = deployed.state.composites,
                    .overflows = deployed.state.overflows});
  }
  return list;
}

Result<void> Processor::declare(const std::string& name, std::vector<AttributeType> attributes) {
  assert(pending() == 0);
  return impl_->rules.declare(name, std::move(attributes));
}

const Schema& Processor::schema() const { return impl_->rules.schema(); }

Result<Place> Processor::append(const Event& event) {
  impl_->names.clear();
  impl_->cells.clear();
  for (const Attribute& attribute : event.attributes) {
    impl_->names.push_back(attribute.name);
    impl_->cells.push_back(to_datum(attribute.value));
  }
  return append(event.type, event.timestamp, impl_->names, impl_->cells);
}

Result<Place> Processor::append(std::string_view type, std::optional<Timestamp> timestamp,
                                std::span<const std::string_view> names,
                                std::span<const Datum> cells) {
  const dispatch::Publication publication{type, timestamp, names, cells};
  const Result<std::uint64_t> number = impl_->sequencer.admit(publication, schema(), impl_->batch);
  if (number.has_error()) {
    ++impl_->counters.refused;
    return number.error();
  }
  ++impl_->counters.accepted;
  return Place{.root = *number, .ordinal = 0};
}

void Processor::process(const std::function<void(const OutputBatch&)>& deliver) {
  impl_->dispatcher.process(impl_->batch, deliver);
}

const ProcessorCounters& Processor::counters() const { return impl_->counters; }

std::size_t Processor::pending() const { return impl_->batch.records.size(); }

void Processor::request_stop() noexcept { impl_->stop.store(true, std::memory_order_relaxed); }

}  // namespace gorgo

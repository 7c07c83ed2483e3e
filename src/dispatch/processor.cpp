#include "gorgo/processor.hpp"

#include <cassert>
#include <chrono>

#include "base/arithmetic.hpp"
#include "base/processors.hpp"
#include "base/workers.hpp"
#include "dispatch/evaluate/evaluation.hpp"
#include "dispatch/evaluate/rule_runner.hpp"
#include "dispatch/explain/alarm_report.hpp"
#include "dispatch/explain/inquiry.hpp"
#include "dispatch/order/arrivals.hpp"
#include "dispatch/order/column_intake.hpp"
#include "dispatch/order/dispatcher.hpp"
#include "dispatch/order/handed_out.hpp"
#include "dispatch/order/headers.hpp"
#include "dispatch/order/inventory.hpp"
#include "dispatch/order/sequencer.hpp"
#include "dispatch/placement/placer.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "dispatch/rules/suspensions.hpp"
#include "dispatch/rules/table_rows.hpp"
#include "dispatch/saved/restoring.hpp"
#include "dispatch/saved/saving.hpp"
#include "plan/explain.hpp"

namespace gorgo {
namespace {

constexpr unsigned kMaxThreads = 1024;

Timestamp system_clock_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::function<Timestamp()> clock_of(const ProcessorOptions& options) {
  return options.clock ? options.clock : system_clock_now;
}

unsigned threads_of(const ProcessorOptions& options) {
  return std::min(options.threads == 0 ? available_processors() : options.threads, kMaxThreads);
}

}  // namespace

struct Processor::Impl {
  explicit Impl(const ProcessorOptions& options)
      : max_depth(options.max_depth),
        history(threads_of(options)),
        rules(options.engine, options.max_late),
        sequencer({.clock = clock_of(options),
                   .max_ahead = options.max_ahead,
                   .lateness = options.lateness,
                   .max_late = options.max_late},
                  counters),
        workers(threads_of(options)),
        placer(rules, history,
               {.shuffle = options.shuffle_engines,
                .threads = workers.threads(),
                .on_alarm = with_reports(options.on_alarm)},
               stop),
        suspensions(rules, options.max_rule_time, options.on_suspension, options.on_starvation),
        runner(rules, history, placer, workers, suspensions, options.job_terminators, stop),
        evaluation(rules, history, counters, workers, placer, runner, suspensions,
                   {.max_depth = options.max_depth,
                    .max_composites = options.max_composites,
                    .max_held_bytes = options.max_held_bytes,
                    .latency_target = options.latency_target,
                    .thread_events = options.job_terminators},
                   stop),
        handed_out(options.hands_out),
        dispatcher(rules, history, counters, placer, evaluation, handed_out, options.max_instants,
                   options.remember, stop) {
    history.set_few_rows(options.replaced_rows);
  }

  ~Impl() {
    for (const auto* engine : engine::engines()) engine->settle();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::function<void(const dispatch::DeployedRule&, history::Slot)> with_reports(
      const std::function<void(const EngineAlarm&)>& tell) {
    if (!tell) return {};
    return [this, tell](const dispatch::DeployedRule& rule, history::Slot terminator) {
      tell(dispatch::alarm_report(rule, rules.schema(), history, terminator));
    };
  }
  Result<void> counted(Result<void> admitted) {
    ++(admitted.has_error() ? counters.refused : counters.accepted);
    return admitted;
  }
  /// Admits the event whose cells are in `cells`.
  Result<void> admit(const std::shared_ptr<dispatch::Header>& header,
                     std::optional<Timestamp> timestamp) {
    auto admitted = sequencer.admit(header, timestamp, cells.data(), rules.schema(), released);
    if (!admitted.has_error()) {
      const TypeId type = header->resolved().type;
      header->count(type == kNoType ? nullptr : &rules.schema().at(type), cells.data());
    }
    return counted(std::move(admitted));
  }
  /// `header`: that of the event's table; null: it is not known yet.
  Result<void> take(std::shared_ptr<dispatch::Header>& header, const BatchCursor& event,
                    const Intake& intake);
  /// Takes the next events together, as far as they can be and are to be taken. Returns how many.
  std::uint32_t take_together(BatchCursor& next, dispatch::ColumnIntake::TableHeaders& tables,
                              std::size_t most, const Intake& intake);

  std::uint32_t max_depth;
  std::atomic<bool> stop = false;
  ProcessorCounters counters;
  history::History history;
  dispatch::RuleSet rules;  // its evaluators refer to the history
  dispatch::Sequencer sequencer;
  Workers workers;
  dispatch::Placer placer;
  dispatch::Suspensions suspensions;
  dispatch::RuleRunner runner;
  dispatch::Evaluation evaluation;
  dispatch::HandedOut handed_out;
  dispatch::Dispatcher dispatcher;
  dispatch::Arrivals arrivals;  // headers refer to it
  dispatch::Headers headers{arrivals};
  dispatch::ColumnIntake columns{rules, history, handed_out, headers, sequencer};
  dispatch::Inventory inventory{rules, history, sequencer, arrivals, counters};
  dispatch::Saving saving{rules, history, sequencer, arrivals, dispatcher, counters};
  dispatch::Released released;
  std::vector<Datum> cells;  // scratch
};

Result<void> Processor::Impl::take(std::shared_ptr<dispatch::Header>& header,
                                   const BatchCursor& event, const Intake& intake) {
  if (intake.check) {
    if (auto checked = intake.check(event); !checked) return counted(std::move(checked));
  }
  if (header == nullptr) header = headers.of(event.table(), rules.schema());
  event.read(cells);
  return admit(header, event.timestamp());
}

std::uint32_t Processor::Impl::take_together(BatchCursor& next,
                                             dispatch::ColumnIntake::TableHeaders& tables,
                                             std::size_t most, const Intake& intake) {
  if (intake.check || columns.passes_over(next, tables)) return 0;
  const std::size_t room = intake.pending > released.size() ? intake.pending - released.size() : 1;
  most = std::min({most, room, std::size_t{dispatch::ColumnIntake::kMost}});
  const std::size_t bytes = std::max(intake.pending_bytes, released.bytes + 1);
  const std::uint32_t taken =
      columns.take(next, {static_cast<std::uint32_t>(most), bytes}, tables, released);
  counters.accepted += taken;
  return taken;
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names = {std::string(kAutomatic)};
  for (const auto* engine : engine::engines()) names.emplace_back(engine->name());
  return names;
}

Processor::Processor(ProcessorOptions options) : impl_(std::make_unique<Impl>(options)) {}
Processor::~Processor() = default;
Processor::Processor(Processor&&) noexcept = default;
Processor& Processor::operator=(Processor&&) noexcept = default;

Diagnostics Processor::deploy(const std::string& name, const std::string& text,
                              const DeployOptions& options) {
  return deploy(prepare_rules(snapshot(), name, text, options));
}

RuleSnapshot Processor::snapshot() const {
  return std::make_shared<const dispatch::RuleBase>(impl_->rules.base());
}

Diagnostics Processor::deploy(PreparedRules prepared) {
  assert(pending() == 0 && !is_saving());
  return impl_->rules.deploy(prepared, clock(), impl_->history);
}

bool Processor::get_ready(const PreparedRules& prepared,
                          std::chrono::steady_clock::time_point until) {
  assert(pending() == 0 && !is_saving());
  return impl_->rules.get_ready(prepared, until, impl_->history);
}

bool Processor::is_getting_ready() const { return impl_->rules.is_getting_ready(); }

void Processor::give_up() { impl_->rules.give_up(); }

Result<void> Processor::remove(std::string_view rule) {
  assert(pending() == 0 && !is_saving());
  return impl_->rules.remove(rule, impl_->history);
}

Result<void> Processor::pin(std::string_view rule, std::string_view engine) {
  assert(pending() == 0);
  return impl_->rules.pin(rule, engine, impl_->history);
}

std::vector<RuleInfo> Processor::rules(std::size_t first, std::size_t count) const {
  std::vector<RuleInfo> list;
  impl_->rules.for_each(first, count, [&](const dispatch::DeployedRule& rule) {
    list.push_back(impl_->inventory.info_of(rule));
  });
  return list;
}

std::size_t Processor::rule_count() const { return impl_->rules.size(); }

bool Processor::has_rule(std::string_view name) const { return impl_->rules.has(name); }

Result<RuleInfo> Processor::rule(std::string_view name) const {
  const auto deployed = impl_->rules.at(name);
  if (!deployed) return deployed.error();
  RuleInfo info = impl_->inventory.info_of(**deployed);
  info.plan = plan::to_text(plan::explain(*(*deployed)->plan, impl_->rules.schema()));
  return info;
}

std::vector<std::string> Processor::rule_names() const {
  std::vector<std::string> names;
  names.reserve(rule_count());
  impl_->rules.for_each(0, rule_count(), [&](const dispatch::DeployedRule& rule) {
    names.push_back(rule.rule().name);
  });
  return names;
}

std::vector<RuleCounters> Processor::rule_counters() const {
  std::vector<RuleCounters> list;
  list.reserve(rule_count());
  impl_->rules.for_each(0, rule_count(), [&](const dispatch::DeployedRule& rule) {
    list.push_back(impl_->inventory.counters_of(rule));
  });
  return list;
}

std::vector<TypeInfo> Processor::types(std::size_t first, std::size_t count) const {
  return impl_->inventory.types(first, count);
}

std::size_t Processor::type_count() const { return impl_->inventory.type_count(); }

Result<Why> Processor::why(std::string_view rule, const WhyOptions& options) const {
  const auto inquiry = inquire(rule, options);
  if (!inquiry) return inquiry.error();
  while (!gather(*inquiry, std::chrono::steady_clock::time_point::max())) continue;
  return answer(*inquiry, impl_->stop);
}

Result<WhyInquiry> Processor::inquire(std::string_view rule, const WhyOptions& options) const {
  const auto deployed = impl_->rules.at(rule);
  if (!deployed) return deployed.error();
  return {std::in_place, std::make_shared<dispatch::Inquiry>(**deployed, schema(), options)};
}

bool Processor::gather(const WhyInquiry& inquiry,
                       std::chrono::steady_clock::time_point until) const {
  assert(pending() == 0);
  const auto deployed = impl_->rules.at(inquiry->rule_name());
  return inquiry->gather(**deployed, impl_->history, until);
}

Result<void> Processor::declare(const std::string& name, std::vector<AttributeType> attributes) {
  assert(pending() == 0);
  return impl_->rules.declare(name, std::move(attributes));
}

void Processor::adopt(Schema types) {
  impl_->rules.restore(std::move(types), {}, 0, impl_->history);
}

void Processor::copy_rows(const std::function<bool(std::string_view table)>& wanted,
                          BatchBuilder& into) const {
  assert(pending() == 0);
  dispatch::copy_rows(impl_->rules, impl_->history, wanted, into);
}

const Schema& Processor::schema() const { return impl_->rules.schema(); }

Result<void> Processor::suspend(std::string_view rule, bool suspended) {
  assert(pending() == 0);
  return impl_->suspensions.set(rule, suspended);
}

void Processor::expect(Starvation starvation) { impl_->suspensions.expect(std::move(starvation)); }

Result<void> Processor::append(const Event& event) {
  if (pending() == 0) impl_->suspensions.review();
  impl_->sequencer.begin();
  BatchBuilder one;
  one.add(event);
  std::shared_ptr<dispatch::Header> header;
  return impl_->take(header, BatchCursor(one.batch()), {});
}

void Processor::append(IncomingBatch& batch, const Refused& refused, const Intake& intake) {
  if (pending() == 0) impl_->suspensions.review();
  impl_->sequencer.begin();
  BatchCursor& next = batch.next_;
  batch.headers_.resize(next.batch().tables.size());
  impl_->columns.begin(batch.headers_.size());
  for (std::size_t left = intake.events; left > 0 && !next.done();) {
    if (intake.pause && intake.pause()) return;
    if (const std::uint32_t taken = impl_->take_together(next, batch.headers_, left, intake)) {
      batch.accepted_ += taken;
      left -= taken;
    } else {
      const Result<void> admitted = impl_->take(batch.headers_[next.table_number()], next, intake);
      if (admitted) {
        ++batch.accepted_;
      } else {
        refused(next, admitted.error());
      }
      next.advance();
      --left;
    }
    if (pending() >= intake.pending || pending_bytes() >= intake.pending_bytes) return;
  }
}

Result<void> Processor::tick(Timestamp timestamp) {
  if (pending() == 0) impl_->suspensions.review();
  impl_->sequencer.begin();
  return impl_->sequencer.tick(timestamp, schema(), impl_->released);
}

bool Processor::reads(std::string_view type) const {
  return impl_->rules.types().by_name().contains(type);
}

bool Processor::stamps() const { return impl_->sequencer.stamps(); }

std::optional<Duration> Processor::due_in() const {
  if (!impl_->sequencer.stamps()) return std::nullopt;
  auto due = impl_->dispatcher.next_due();
  const auto held = impl_->sequencer.first_held();
  if (held && (!due || *held < *due)) due = held;
  if (!due) return std::nullopt;
  // Only a tick that moves the clock brings anything about.
  if (clock()) due = std::max(*due, arithmetic::saturating_add(*clock(), 1));
  return arithmetic::saturating_subtract(*due, impl_->sequencer.now());
}

void Processor::tick_now() {
  // The tick is never ahead of the clock, so it cannot be refused.
  static_cast<void>(tick(impl_->sequencer.now()));
}

void Processor::process(const std::function<void(const OutputBatch&)>& deliver) {
  impl_->dispatcher.process(impl_->released, deliver);
  impl_->suspensions.review();
}

void Processor::flush(const std::function<void(const OutputBatch&)>& deliver) {
  impl_->sequencer.flush(schema(), impl_->released);
  process(deliver);
}

void Processor::finish(const std::function<void(const OutputBatch&)>& deliver) {
  flush(deliver);
  // What fires may cause composites that wait in turn, one level deeper each round. After the last
  // round only what timers brought about waits, and as timers never end, neither would that.
  for (std::uint32_t round = 0; round < impl_->max_depth; ++round) {
    const auto deadline = impl_->dispatcher.last_deadline();
    if (!deadline || impl_->stop.load(std::memory_order_relaxed)) return;
    impl_->released.add_tick(*deadline);
    process(deliver);
  }
}

const ProcessorCounters& Processor::counters() const { return impl_->counters; }

const DroppedComposite& Processor::last_dropped() const { return impl_->evaluation.last_dropped(); }

const std::string& Processor::last_passed_over() const {
  return impl_->evaluation.last_passed_over();
}

std::size_t Processor::pending() const { return impl_->released.size(); }

std::size_t Processor::pending_bytes() const { return impl_->released.bytes; }

std::size_t Processor::held() const { return impl_->sequencer.held(); }

std::uint64_t Processor::roots() const { return impl_->dispatcher.roots(); }

std::optional<Timestamp> Processor::clock() const { return impl_->dispatcher.clock(); }

Result<Processor::SavedPart> Processor::begin_save() {
  assert(pending() == 0);
  return impl_->saving.begin();
}

std::optional<Processor::SavedPart> Processor::save_more(std::size_t bytes) {
  return impl_->saving.next(bytes);
}

bool Processor::is_saving() const { return impl_->saving.is_on(); }

void Processor::end_save() { impl_->saving.end(); }

Result<void> Processor::restore(const NextSaved& next) {
  Impl& impl = *impl_;
  dispatch::Restoring restoring(
      impl.rules, impl.history, impl.sequencer, impl.arrivals, impl.dispatcher, impl.counters,
      [&impl](std::string_view type, std::span<const std::string_view> names) {
        return std::make_shared<dispatch::Header>(type, names, impl.arrivals.note(type, names));
      });
  while (true) {
    const auto part = next();
    if (!part) return part.error();
    if (part->empty()) {
      auto finished = restoring.finish();
      impl.suspensions.restored();
      return finished;
    }
    if (auto taken = restoring.take(*part); !taken) return taken;
  }
}

void Processor::request_stop() noexcept { impl_->stop.store(true, std::memory_order_relaxed); }

bool Processor::is_stopped() const noexcept { return impl_->stop.load(std::memory_order_relaxed); }

}  // namespace gorgo

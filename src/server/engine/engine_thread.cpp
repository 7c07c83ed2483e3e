#include "server/engine/engine_thread.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/thread_name.hpp"
#include "server/alarm_file.hpp"
#include "server/replies.hpp"

namespace gorgo::server {
namespace {

namespace stored = journal::stored;

/// The longest wait for a moment of the system's clock, which may be set meanwhile.
constexpr Duration kLongestPause = 1'000'000'000;
/// The wait before the next attempt to set the memory reserve aside, or to find room on a disk.
constexpr std::chrono::milliseconds kShortWait{100};

Timestamp system_clock_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::function<Timestamp()> clock_of(const ProcessorOptions& options) {
  return options.clock ? options.clock : system_clock_now;
}

using OnSuspension = decltype(ProcessorOptions::on_suspension);
using OnStarvation = decltype(ProcessorOptions::on_starvation);
using HandsOut = decltype(ProcessorOptions::hands_out);

ProcessorOptions with_hooks(ProcessorOptions options, EngineClock& clock,
                            const std::string& reports, Log& log, OnSuspension on_suspension,
                            OnStarvation on_starvation, HandsOut hands_out) {
  options.clock = [&clock] { return clock.now(); };
  options.on_suspension = std::move(on_suspension);
  options.on_starvation = std::move(on_starvation);
  options.hands_out = std::move(hands_out);
  options.on_alarm = [&log, reports](const EngineAlarm& alarm) {
    const auto saved = save_report(alarm, reports);
    log.error("engines disagree: please report it, with the file",
              {{"rule", alarm.rule},
               {"difference", alarm.difference},
               {"engine", "column"},
               {"file", saved ? *saved : saved.error().message}});
  };
  return options;
}

}  // namespace

EngineThread::EngineThread(const ServerOptions& options, Log& log, CommandQueue& queue,
                           TypeBoard& types, const ActionBoard& executable,
                           Inhibitions& inhibitions, ClientTotals& totals, ConnectionNews& news,
                           DoorCalls doors, std::function<void()> on_end)
    : limits_(options.limits),
      paced_(options.processor.latency_target > 0),
      log_(log),
      queue_(queue),
      types_(types),
      inhibitions_(inhibitions),
      on_end_(std::move(on_end)),
      clock_(clock_of(options.processor)),
      journal_(options.journal, log, [this] { queue_.push_control({Command::Kind::synced}); }),
      processor_(with_hooks(
          options.processor, clock_, options.reports, log,
          [this](const std::string& rule, bool suspended) {
            return decisions_.suspend(rule, suspended);
          },
          [this](const Starvation& starvation) { return decisions_.starve(starvation); },
          [this](std::string_view type) { return fanout_.is_wanted(type); })),
      book_(processor_, clock_, journal_, [this] { snapshots_.finish_taking(); }),
      decisions_({processor_, clock_, journal_, results_, log, options.limits.reserve_bytes}),
      settings_(settings_of(options.processor)),
      subscriptions_(options.limits, totals.memory,
                     [this](const Outbox& client, std::size_t rows) { on_oversize(client, rows); }),
      durables_(options.limits, options.journal, [this] { return subscriptions_.next_number(); }),
      producers_(options.limits.max_producers),
      admission_({.processor = processor_,
                  .clock = clock_,
                  .journal = journal_,
                  .producers = producers_,
                  .positions = positions_,
                  .durables = durables_,
                  .process_if_many = [this] { process_if_many(); },
                  .is_ending = [this] { return queue_.is_closed(); }},
                 options, log),
      shadows_(options.processor),
      fanout_({journal_, subscriptions_, durables_, inhibitions, shadows_, results_, latencies_,
               admission_.latency()}),
      self_report_({.processor = processor_,
                    .admission = admission_,
                    .queue = queue,
                    .totals = totals,
                    .news = news,
                    .is_subscribed =
                        // A node tells its cluster what time it is where no events come.
                    [this, is_node = options.cluster.is_on()](const std::string& type) {
                      return subscriptions_.names(type) || durables_.names(type) ||
                             (is_node && type == "gorgo.Stats");
                    }},
                   options.operations),
      rule_files_(options.rules, &executable),
      device_watch_(log),
      drop_watch_(log),
      rate_watch_([this] { return processor_.rule_counters(); }, std::chrono::steady_clock::now()),
      memory_watch_(options.limits.reserve_bytes, log),
      snapshots_(options.journal, journal_, processor_,
                 {settings_, producers_, positions_, declared_doors_, inhibitions_, results_,
                  book_.files(), book_.history(), deployments_, durables_},
                 queue, log),
      subscription_requests_({processor_, clock_, journal_, subscriptions_, durables_,
                              subscription_counts_, inhibitions}),
      door_requests_({.journal = journal_,
                      .clock = clock_,
                      .known = {declared_doors_, positions_, durables_},
                      .doors = std::move(doors),
                      .log = log,
                      .process = [this] { process(); }}),
      trace_({.processor = processor_,
              .admission = admission_,
              .fanout = fanout_,
              .max_frame = options.limits.max_frame,
              .process = [this] { process(); },
              .deliver = [this](const OutputBatch& batch) { return deliver(batch); }}),
      rule_listing_(
          {.processor = processor_,
           .deployments = deployments_,
           .rates = rate_watch_,
           .latencies = latencies_,
           .is_subscribed = [this](std::string_view type) { return fanout_.is_subscribed(type); },
           .max_frame = options.limits.max_frame}),
      rule_requests_({processor_, clock_, journal_, book_, deployments_, shadows_, types,
                      executable, rate_watch_, checker_, log}),
      rule_reload_({book_, rule_files_, journal_, types, rate_watch_, checker_, log}),
      why_(processor_, checker_, options.limits),
      ordered_({.book = book_,
                .rules = rule_requests_,
                .reload = rule_reload_,
                .why = why_,
                .checker = checker_,
                .queue = queue,
                .process = [this] { process(); },
                .carry_out = [this](Command& command) { handle_request(command); },
                .attempt =
                    [this](const Command& command, const std::function<void()>& action) {
                      return attempt(command, action);
                    }}),
      checker_(options.on_check, [this] { queue_.push_control({Command::Kind::checked}); }) {}

EngineThread::~EngineThread() { join(); }

Result<void> EngineThread::recover(StartProgress& progress) {
  progress.begin("opening the journal");
  if (auto opened = journal_.open(); !opened) return opened;
  if (!journal_.is_on()) {
    decisions_.begin();
    return {};
  }
  try {
    return replay(progress);
  } catch (const JournalFailed& failure) {
    return Error{failure.why, "see to the disk and start again"};
  } catch (const std::exception& failure) {
    return Error{std::string("recovering from the journal failed: ") + failure.what(), ""};
  }
}

Result<void> EngineThread::replay(StartProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  Replay replay(journal_.journal().view(),
                {.processor = processor_,
                 .clock = clock_,
                 .producers = producers_,
                 .positions = positions_,
                 .declared_doors = declared_doors_,
                 .inhibitions = &inhibitions_,
                 .deployments = deployments_,
                 .results = results_,
                 .durables = durables_,
                 .process = [this] { process(); },
                 .process_if_many = [this] { process_if_many(); },
                 .flush = [this] { flush(); }},
                settings_, progress, log_);
  if (auto done = replay.run(); !done) return done;
  if (auto begun = journal_.begin(); !begun) return begun;
  journal_.write<stored::Settings>(stored::Kind::Settings, settings_);
  decisions_.begin();
  for (Replay::Unfinished& unfinished : replay.take_unfinished()) finish(std::move(unfinished));
  decisions_.recovered();
  KnownFiles files = replay.take_files();
  rule_files_.adopt(files);
  book_.adopt(std::move(files), replay.take_history());
  snapshots_.recovered(replay.snapshot_bytes(), replay.record_bytes());
  types_.post(processor_.schema());
  drop_watch_.begin(processor_.counters(), durables_.dropped());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  log_.info("recovered from the journal", {{"records", replay.records()},
                                           {"events", processor_.counters().accepted},
                                           {"rules", processor_.rule_count()},
                                           {"seconds", std::to_string(took.count())}});
  return {};
}

void EngineThread::finish(Replay::Unfinished unfinished) {
  while (admission_.append(*unfinished.publication, UINT32_MAX, true)) {
  }
  process();
}

RuleFiles::Outcome EngineThread::load_rules() {
  auto outcome = rule_files_.load(book_);
  journal_.write_gathered();
  types_.post(processor_.schema());
  return outcome;
}

void EngineThread::start() {
  rate_watch_.restart(std::chrono::steady_clock::now());
  thread_ = std::thread([this] { run(); });
}

void EngineThread::join() {
  if (thread_.joinable()) thread_.join();
}

void EngineThread::run() {
  name_thread("engine");
  try {
    std::vector<Command> commands;
    device_watch_.look();
    while (queue_.take(commands, patience(), pace_.value())) {
      work(commands);
      commands.clear();
    }
    snapshots_.stop();
    ordered_.finish();
    // What was accepted is evaluated, also what `lateness` still holds.
    if (processor_.held() > 0) {
      journal_.write<stored::Release>(stored::Kind::Release, {});
    }
    flush();
    decisions_.write_results(true);
    journal_.await_durable();
    journal_.synced();
    feed();
    snapshots_.make_last();
    journal_.close();
    feed();
  } catch (const JournalFailed& failure) {
    broken_ = true;
    log_.error(
        "the server ends, because its journal has failed; a new start recovers what is "
        "durable",
        {{"error", failure.why}});
  } catch (const std::exception& failure) {
    broken_ = true;
    log_.error("an evaluation failed half-way, so the server ends", {{"error", failure.what()}});
  }
  on_end_();
}

void EngineThread::work(std::vector<Command>& turn) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t cost = 0;
  for (Command& command : turn) {
    if (processor_.is_stopped()) break;
    handle(command);
    cost += command.cost;
  }
  journal_.begin_sync();
  process();
  if (paced_) pace_.note(cost, std::chrono::steady_clock::now() - start);
  tick();
  if (look()) process();
  decisions_.write_results(false);
  snapshots_.look();
  feed();
  journal_.end_turn();
  memory_watch_.look();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  turns_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, took.count())));
}

/// Looks at what is told now and then. Returns whether the server itself has published something.
bool EngineThread::look() {
  const auto now = std::chrono::steady_clock::now();
  try {
    device_watch_.look();
    drop_watch_.look(processor_, now);
    drop_watch_.look_at_durables(durables_.dropped(), durables_.last_dropped(), now);
    rate_watch_.look(now);
    return self_report_.look(now);
  } catch (const std::bad_alloc&) {  // it comes again
    return false;
  }
}

void EngineThread::feed() {
  if (durables_.empty() || !journal_.is_on()) return;
  if (durables_.feed(journal_.journal().durable())) journal_.want_sync();
}

void EngineThread::flush() {
  broken_ = true;
  processor_.flush([this](const OutputBatch& batch) { deliver(batch); });
  broken_ = false;
  settle();
}

void EngineThread::tick() {
  const auto due = processor_.due_in();
  if (!due || *due > 0) return;
  tick_waits_ = !journal_.make_room(0);
  if (tick_waits_) return;
  {
    const EngineClock::Hold held(clock_);
    processor_.tick_now();
    stored::ClockMoveT move;
    move.clock = held.reading();
    journal_.write<stored::ClockMove>(stored::Kind::ClockMove, move);
  }
  process();
}

std::chrono::nanoseconds EngineThread::patience() const {
  if (memory_watch_.is_short()) return kShortWait;
  if (snapshots_.is_taking()) return std::chrono::milliseconds(1);
  const auto now = std::chrono::steady_clock::now();
  auto counted = std::min(rate_watch_.due_in(now), self_report_.due_in(now));
  if (const auto sync = journal_.due_in()) counted = std::min(counted, *sync);
  if (journal_.read_only()) return counted;
  if (tick_waits_) return std::min<std::chrono::nanoseconds>(counted, kShortWait);
  const auto due = processor_.due_in();
  if (!due) return counted;
  return std::min(counted, std::chrono::nanoseconds(std::clamp<Duration>(*due, 0, kLongestPause)));
}

void EngineThread::process() {
  if (processor_.pending() > 0) {
    journal_.write_gathered();
    broken_ = true;
    processor_.process([this](const OutputBatch& batch) { deliver(batch); });
    broken_ = false;
  }
  settle();
}

void EngineThread::settle() {
  shadows_.settle(processor_.clock());
  admission_.settle();
}

std::uint64_t EngineThread::deliver(const OutputBatch& batch) {
  beat();
  return fanout_.deliver(batch);
}

void EngineThread::process_if_many() {
  const bool many = processor_.pending() >= limits_.batch_events ||
                    processor_.pending_bytes() >= limits_.batch_bytes;
  if (many) process();
}

void EngineThread::on_oversize(const Outbox& client, std::size_t rows) {
  if (const auto all = oversize_log_.note(rows)) {
    log_.warning("events too large for a frame were not delivered",
                 {{"rows", *all}, {"peer", client.peer()}, {"max_frame", limits_.max_frame}});
  }
}

void EngineThread::handle(Command& command) {
  const bool done = attempt(command, [&] { carry_out(command); });
  if (!done && command.done) command.done();
}

bool EngineThread::attempt(const Command& command, const std::function<void()>& action) {
  const auto client = command.client;
  try {
    action();
    return true;
  } catch (const std::bad_alloc&) {
    if (broken_) throw;
    if (client != nullptr) give_up(command, *client, kShortOfMemory);
  } catch (const std::exception& failure) {
    if (broken_) throw;
    const Error why{std::string("the request failed: ") + failure.what(), ""};
    if (client != nullptr) give_up(command, *client, why);
  }
  return false;
}

void EngineThread::give_up(const Command& command, Outbox& client, const Error& why) {
  log_.error("a request failed", {{"error", why.message}, {"peer", client.peer()}});
  // What became of a publication is unknown to its client when the connection ends without an Ack.
  if (command.kind != Command::Kind::request || command.frame.empty()) return client.close();
  const auto* message = flatbuffers::GetSizePrefixedRoot<wire::Message>(command.frame.data());
  const bool publishes =
      message->body_type() == wire::Body::Publish || message->body_type() == wire::Body::Trace;
  if (publishes) return client.close();
  client.reply(error_reply(message->id(), wire::ErrorCode::Overloaded, why));
}

void EngineThread::carry_out(Command& command) {
  switch (command.kind) {
    case Command::Kind::request:
      if (!takes_turns(command.message().body_type())) return handle_request(command);
      [[fallthrough]];
    case Command::Kind::reload:
      return ordered_.add(std::move(command));
    case Command::Kind::checked:
      return ordered_.work_off();
    case Command::Kind::beat:
      return beat();
    case Command::Kind::synced:
      journal_.synced();
      return feed();
    case Command::Kind::feed:
      return feed();
    case Command::Kind::disconnect:
      subscription_requests_.forget(*command.client);
      admission_.clock_watch().forget(*command.client);
      command.client->close_behind_replies();
      if (const auto done = std::exchange(command.done, {})) done();
      return;
  }
}

}  // namespace gorgo::server

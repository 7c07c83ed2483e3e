#include "server/engine_thread.hpp"

#include <malloc.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/thread_name.hpp"
#include "server/alarm_file.hpp"
#include "server/memory_reserve.hpp"
#include "server/replies.hpp"

namespace gorgo::server {
namespace {

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
      executable_(executable),
      inhibitions_(inhibitions),
      door_calls_(std::move(doors)),
      on_end_(std::move(on_end)),
      clock_(clock_of(options.processor)),
      journal_(options.journal, log, [this] { queue_.push_control({Command::Kind::synced}); }),
      processor_(with_hooks(
          options.processor, clock_, options.reports, log,
          [this](const std::string& rule, bool suspended) {
            return note_suspension(rule, suspended);
          },
          [this](const Starvation& starvation) { return note_starvation(starvation); },
          [this](std::string_view type) { return is_wanted(type); })),
      book_(processor_, clock_, journal_, [this] { snapshots_.finish_taking(); }),
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
      shadows_(options.processor),
      rule_files_(options.rules, &executable),
      device_watch_(log),
      drop_watch_(log),
      rate_watch_([this] { return processor_.rule_counters(); }, std::chrono::steady_clock::now()),
      snapshots_(options.journal, journal_, processor_,
                 {settings_, producers_, positions_, declared_doors_, inhibitions_, results_,
                  book_.files(), book_.history(), deployments_, durables_},
                 queue, log),
      checker_(options.on_check, [this] { queue_.push_control({Command::Kind::checked}); }) {}

EngineThread::~EngineThread() { join(); }

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
    finish_changes();
    // What was accepted is evaluated, also what `lateness` still holds.
    if (processor_.held() > 0) {
      journal_.write<journal::stored::Release>(journal::stored::Kind::Release, {});
    }
    flush();
    write_results(true);
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
  write_results(false);
  snapshots_.look();
  feed();
  journal_.end_turn();
  keep_reserve();
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

void EngineThread::keep_reserve() {
  if (!memory_reserve::is_given_up() && !short_of_memory_) return;
  if (!short_of_memory_) {
    short_of_memory_ = true;
    shortages_.fetch_add(1, std::memory_order_relaxed);
    log_.warning("short of memory: publications are refused until there is more");
  }
  malloc_trim(0);
  if (!memory_reserve::take(limits_.reserve_bytes)) return;
  short_of_memory_ = false;
  log_.info("there is memory again");
}

void EngineThread::tick() {
  const auto due = processor_.due_in();
  if (!due || *due > 0) return;
  tick_waits_ = !journal_.make_room(0);
  if (tick_waits_) return;
  {
    const EngineClock::Hold held(clock_);
    processor_.tick_now();
    journal::stored::ClockMoveT move;
    move.clock = held.reading();
    journal_.write<journal::stored::ClockMove>(journal::stored::Kind::ClockMove, move);
  }
  process();
}

std::chrono::nanoseconds EngineThread::patience() const {
  if (short_of_memory_) return kShortWait;
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
  if (batch.rows.empty()) return 0;
  inhibitions_.take(batch);
  if (journal_.is_on()) {
    results_.take(batch);
    durables_.take(batch, journal_.journal().end());
  }
  std::uint64_t queued = 0;
  if (subscriptions_.texts() > 0) {
    journal_.before_output();
    if (!journal_.read_only()) queued = subscriptions_.deliver(batch);
  }
  latencies_.take(batch, admission_.latency(), std::chrono::steady_clock::now());
  shadows_.take(batch);
  return queued;
}

bool EngineThread::is_wanted(std::string_view type) const {
  return is_tracing_ || is_subscribed(type) || !shadows_.all().empty();
}

bool EngineThread::is_subscribed(std::string_view type) const {
  return subscriptions_.wants(std::string(type)) || durables_.names(type) || durables_.names("*");
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

template <class Action>
bool EngineThread::attempt(const Command& command, Action action) {
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
      if (!takes_turns(command.message().body_type())) {
        return handle_request(command, command.message());
      }
      [[fallthrough]];
    case Command::Kind::reload:
      changes_.push_back(std::move(command));
      if (const auto& client = changes_.back().client) client->owe();
      return work_off_changes();
    case Command::Kind::checked:
      return work_off_changes();
    case Command::Kind::beat:
      return beat();
    case Command::Kind::synced:
      journal_.synced();
      return feed();
    case Command::Kind::feed:
      return feed();
    case Command::Kind::disconnect:
      subscriptions_.remove_all(*command.client);
      durables_.detach_all(*command.client);
      subscription_counts_.removed_all(*command.client);
      admission_.clock_watch().forget(*command.client);
      command.client->close_behind_replies();
      if (const auto done = std::exchange(command.done, {})) done();
      return;
  }
}

void EngineThread::work_off_changes() {
  while (!changes_.empty()) {
    Command& first = changes_.front();
    bool over = true;
    attempt(first, [&] { over = change(first); });
    if (!over) return;
    forget_change();
    if (first.done) first.done();
    if (first.client != nullptr) first.client->paid();
    changes_.pop_front();
  }
}

/// A change that has failed in the middle leaves what belongs to it, which the next one must not
/// take for its own.
void EngineThread::forget_change() {
  if (checker_.is_busy()) {
    try {
      checker_.finish();
    } catch (const std::exception&) {
      // Whoever asked for it has been told of the failure that came first.
    }
  }
  processor_.give_up();
  inquiry_ = nullptr;
  checked_ = nullptr;
  checked_shadow_ = nullptr;
  why_.reset();
  more_files_ = false;
  checked_names_.clear();
}

void EngineThread::finish_changes() {
  while (!changes_.empty()) {
    if (checker_.is_busy()) checker_.wait();
    work_off_changes();
  }
}

bool EngineThread::change(Command& command) {
  const bool begun = checker_.is_busy() || inquiry_ != nullptr;
  if (!begun && queue_.is_closed()) {
    refuse(command);
    return true;
  }
  if (command.reload != nullptr) return reload(command);
  const wire::Message& message = command.message();
  if (message.body_type() == wire::Body::AskWhy) return explain(command);
  const bool gone = command.client->closed();
  if (!begun && !gone) check(message);
  if (checker_.is_busy() && !checker_.is_done()) return false;
  if (!gone && !get_ready(coming_rules(command))) return false;
  if (!gone) {
    handle_request(command, message);
    return true;
  }
  dropped_changes_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::chrono::steady_clock::time_point EngineThread::end_of_piece() const {
  using Clock = std::chrono::steady_clock;
  if (queue_.is_closed()) return Clock::time_point::max();
  return Clock::now() + std::chrono::nanoseconds(kPieceCost);
}

PreparedRules EngineThread::coming_rules(const Command& change) const {
  if (!checker_.is_busy()) return nullptr;
  if (change.reload != nullptr) return more_files_ ? rule_files_.checked() : nullptr;
  const auto* deploy = change.message().body_as_Deploy();
  if (deploy != nullptr && (deploy->check() || deploy->shadow())) return nullptr;
  // Asked once, because it looks at all rules, and before anything is made for them.
  const bool is_asked = processor_.is_getting_ready();
  if (!is_asked && checked_ != nullptr && !may_put_in_force(change, *checked_)) return nullptr;
  return checked_;
}

bool EngineThread::get_ready(const PreparedRules& rules) {
  if (rules == nullptr) return true;
  process();
  try {
    if (book_.get_ready(rules, end_of_piece())) return true;
  } catch (const std::bad_alloc&) {
    processor_.give_up();
    return true;  // putting them in force says so
  }
  queue_.push_control({Command::Kind::checked});
  return false;
}

void EngineThread::refuse(const Command& change) {
  if (change.client == nullptr) return;
  change.client->reply(error_reply(change.message().id(), wire::ErrorCode::Stopping,
                                   {"the server is stopping, so this was not carried out",
                                    "connect again later and send it again"}));
}

bool EngineThread::reload(const Command& command) {
  if (!checker_.is_busy()) {
    rule_files_.set_paths(command.reload->paths);
    rule_files_.begin(book_.files());
  } else {
    if (!checker_.is_done() || !get_ready(coming_rules(command))) return false;
    checker_.finish();
    if (more_files_) {
      process();
      rule_files_.put_in_force(book_);
      types_.post(processor_.schema());
      rate_watch_.rules_came(std::chrono::steady_clock::now());
    }
    if (!more_files_ || queue_.is_closed()) {
      end_reload(command);
      return true;
    }
  }
  checker_.begin([this, snapshot = processor_.snapshot()]() mutable {
    more_files_ = rule_files_.check_next(std::exchange(snapshot, nullptr));
  });
  return false;
}

void EngineThread::end_reload(const Command& command) {
  log_reload();
  if (command.client == nullptr) return;
  journal_.reply_when_durable(
      command.client,
      reloaded_reply(command.message().id(), command.reload->changed, rule_files_.outcome()));
}

void EngineThread::log_reload() const {
  const auto& outcome = rule_files_.outcome();
  for (const Diagnostic& d : outcome.diagnostics.list) {
    const std::string at =
        d.file + ":" + std::to_string(d.at.line) + ":" + std::to_string(d.at.column);
    if (d.severity == Severity::error) {
      log_.error("rule file not deployed, the old rules stay", {{"at", at}, {"error", d.message}});
    } else {
      log_.warning("rule file", {{"at", at}, {"warning", d.message}});
    }
  }
  for (const Error& error : outcome.errors) log_.error("rules", {{"error", error.to_string()}});
  for (const std::string& file : outcome.gone) {
    log_.warning("rule file has left its folder, its rules are removed", {{"file", file}});
  }
  log_.info("rules read again", {{"files", outcome.files},
                                 {"removed", outcome.removed.size()},
                                 {"rules", processor_.rule_count()}});
}

}  // namespace gorgo::server

#include "server/engine_thread.hpp"

#include <algorithm>

#include "server/alarm_file.hpp"
#include "server/replies.hpp"

namespace gorgo::server {
namespace {

/// The system's clock may be set while the engine thread waits for a moment of it.
constexpr Duration kLongestWait = 1'000'000'000;

ProcessorOptions with_alarms(ProcessorOptions options, const std::string& reports, Log& log) {
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
                           std::function<void()> on_end)
    : limits_(options.limits),
      paced_(options.processor.latency_target > 0),
      log_(log),
      queue_(queue),
      on_end_(std::move(on_end)),
      processor_(with_alarms(options.processor, options.reports, log)),
      subscriptions_(options.limits,
                     [this](const Outbox& client, std::size_t rows) { on_oversize(client, rows); }),
      producers_(options.limits.max_producers),
      rule_files_(options.rules),
      device_watch_(log),
      rate_watch_([this] { return processor_.rule_counters(); }, std::chrono::steady_clock::now()) {
}

EngineThread::~EngineThread() { join(); }

void EngineThread::start() {
  rate_watch_.restart(std::chrono::steady_clock::now());
  thread_ = std::thread([this] { run(); });
}

void EngineThread::join() {
  if (thread_.joinable()) thread_.join();
}

void EngineThread::run() {
  std::vector<Command> commands;
  device_watch_.look();
  while (queue_.take(commands, patience(), pace_.value())) {
    carry_out(commands);
    tick();
    device_watch_.look();
    rate_watch_.look(std::chrono::steady_clock::now());
    commands.clear();
  }
  // What was accepted is evaluated, also what `lateness` still holds.
  processor_.flush([this](const OutputBatch& batch) { subscriptions_.deliver(batch); });
  on_end_();
}

void EngineThread::carry_out(std::vector<Command>& turn) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t cost = 0;
  for (Command& command : turn) {
    cost += command.cost;
    handle(command);
  }
  process();
  if (paced_) pace_.note(cost, std::chrono::steady_clock::now() - start);
}

void EngineThread::tick() {
  const auto due = processor_.due_in();
  if (!due || *due > 0) return;
  processor_.tick_now();
  process();
}

std::chrono::nanoseconds EngineThread::patience() const {
  const auto counted = rate_watch_.due_in(std::chrono::steady_clock::now());
  const auto due = processor_.due_in();
  if (!due) return counted;
  return std::min(counted, std::chrono::nanoseconds(std::clamp<Duration>(*due, 0, kLongestWait)));
}

void EngineThread::process() {
  if (processor_.pending() == 0) return;
  processor_.process([this](const OutputBatch& batch) { subscriptions_.deliver(batch); });
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
  switch (command.kind) {
    case Command::Kind::request: {
      const auto* message = flatbuffers::GetSizePrefixedRoot<wire::Message>(command.frame.data());
      return handle_request(command, *message);
    }
    case Command::Kind::disconnect:
      subscriptions_.remove_all(*command.client);
      return command.client->close();
    case Command::Kind::reload:
      process();
      return reload();
  }
}

void EngineThread::reload() {
  const auto outcome = rule_files_.load(processor_);
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
  rate_watch_.restart(std::chrono::steady_clock::now());
  log_.info("rules read again", {{"files", outcome.files},
                                 {"removed", outcome.removed},
                                 {"rules", processor_.rules().size()}});
}

std::vector<RuleInfo> EngineThread::rules_with_rates() const {
  auto rules = processor_.rules();
  const auto rates = rate_watch_.rates(std::chrono::steady_clock::now());
  for (std::size_t i = 0; i < rules.size(); ++i) rules[i].rates = rates[i];
  return rules;
}

}  // namespace gorgo::server

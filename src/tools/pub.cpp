#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gorgo/publisher.hpp"
#include "tools/bad_lines.hpp"
#include "tools/commands.hpp"
#include "tools/event_form.hpp"
#include "tools/event_stream.hpp"
#include "tools/login.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"

namespace gorgo::tools {
namespace {

struct PubOptions {
  Login login;
  std::string to = "127.0.0.1:7450";
  std::string file = "-";
  EventForm form;
  std::string stamp = "event";
  std::size_t batch = 1000;
  double rate = 0;  // events per second, 0: as fast as possible
  Acknowledge acknowledge = Acknowledge::by_default;
  std::uint64_t producer = 0;             // 0: a random one, and nothing is repeated
  std::optional<std::uint64_t> sequence;  // of the first batch, where the producer is named
};

/// How many events are sent at once. At a low rate a batch holds what is due in a tenth of a
/// second.
std::size_t batch_of(const PubOptions& options) {
  if (options.rate <= 0) return options.batch;
  return std::clamp<std::size_t>(static_cast<std::size_t>(options.rate / 10), 1, options.batch);
}

/// Publishes batches without waiting for each answer, and keeps the accounts.
class LinePublisher {
 public:
  LinePublisher(Publisher& publisher, EventStream& stream, const PubOptions& options)
      : publisher_(publisher), stream_(stream), options_(options), bad_lines_(options.file) {}

  /// Publishes all of the stream.
  Result<void> run() {
    Result<void> done;
    const auto go_on = [&](const Result<void>& result) {
      done = result;
      return done.has_value();
    };
    const auto skip = [&](const Error& error) {
      progress_.clear();
      bad_lines_.add(error);
      return true;
    };
    const auto read = stream_.read({.full = [&] { return go_on(publish()); },
                                    .tick = [&](Timestamp at) { return go_on(tick(at)); },
                                    .bad_line = skip,
                                    .pause = [&] { return go_on(pause()); }});
    if (done) done = publish();
    if (done) done = settle();
    progress_.clear();
    if (!done) return done;
    return read ? bad_lines_.check(taken_) : read;
  }

  void summarise() const {
    bad_lines_.summarise();
    std::fprintf(stderr, "sent %llu, accepted %llu, refused %llu, bad lines %llu\n",
                 static_cast<unsigned long long>(sent_), static_cast<unsigned long long>(accepted_),
                 static_cast<unsigned long long>(refused_),
                 static_cast<unsigned long long>(bad_lines_.count()));
    if (duplicates_ > 0) {
      std::fprintf(stderr, "applied before: %llu\n", static_cast<unsigned long long>(duplicates_));
    }
    for (const auto& [reason, refused] : reasons_) {
      if (refused.count == 1) continue;
      std::fprintf(stderr, "  refused as line %llu: %llu more\n",
                   static_cast<unsigned long long>(refused.first_line),
                   static_cast<unsigned long long>(refused.count - 1));
    }
  }

  std::uint64_t refused() const { return refused_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostReasons = 20;
  static constexpr std::size_t kMostUnsettled = 1 << 16;  // events

  Publisher& publisher_;
  EventStream& stream_;
  const PubOptions& options_;
  std::uint64_t sent_ = 0, accepted_ = 0, refused_ = 0, duplicates_ = 0;
  std::uint64_t taken_ = 0;           // events and ticks
  std::vector<std::uint64_t> lines_;  // of the events whose outcome is not known
  BadLines bad_lines_;
  Progress progress_;
  struct Refused {
    std::uint64_t first_line = 0;
    std::uint64_t count = 0;
  };
  std::map<std::string, Refused> reasons_;
  const Clock::time_point start_ = Clock::now();

  /// Sends the events that were read.
  Result<void> publish() {
    ReadEvents read = stream_.take();
    if (read.lines.empty()) return {};
    EventBatch batch = read.events.batch();
    if (options_.stamp == "server") {
      for (EventTable& table : batch.tables) table.timestamps = {};
    }
    if (options_.rate > 0) wait_for_turn();
    if (auto sent = publisher_.send(batch); !sent) return sent;
    lines_.insert(lines_.end(), read.lines.begin(), read.lines.end());
    taken_ += read.lines.size();
    sent_ += read.lines.size();
    progress_.show(stream_.share_read(), sent_);
    return lines_.size() < kMostUnsettled ? Result<void>() : settle();
  }

  /// A repetition has to cut the same batches, and pauses of the input are never the same. Nobody
  /// waits for more of a file, so its outcomes can wait as well.
  Result<void> pause() {
    if (options_.producer != 0) return {};
    auto published = publish();
    return published && !stream_.has_end() ? settle() : published;
  }

  /// Publishes a tick in order with the events around it. Where the server stamps events, it makes
  /// the ticks as well.
  Result<void> tick(Timestamp timestamp) {
    ++taken_;
    if (options_.stamp == "server") return {};
    auto done = publish();
    if (done) done = settle();
    if (done) done = publisher_.tick(timestamp);
    if (!done) return done;
    lines_ = {stream_.line()};
    return settle();
  }

  /// Waits for all outcomes and tells those that are bad.
  Result<void> settle() {
    const Outcome outcome = publisher_.flush();
    accepted_ += outcome.published.accepted;
    refused_ += outcome.published.refused;
    duplicates_ += outcome.published.duplicates;
    for (const Refusal& refusal : outcome.published.refusals) {
      if (refusal.index < lines_.size()) {
        show({refusal.reason, refusal.hint}, lines_[refusal.index]);
      }
    }
    lines_.clear();
    if (outcome.kind != Outcome::Kind::unknown) return {};
    return Error{"what became of the last events is not known: " + outcome.reason.message,
                 "with --producer and --sequence the same file may be published again"};
  }

  void wait_for_turn() {
    const std::chrono::duration<double> due(static_cast<double>(sent_) / options_.rate);
    const auto left = start_ + std::chrono::duration_cast<Clock::duration>(due) - Clock::now();
    if (left > left.zero()) publisher_.run_for(std::chrono::nanoseconds(left).count());
  }

  void show(const Error& refusal, std::uint64_t line) {
    const std::string reason = refusal.to_string();
    if (!reasons_.contains(reason) && reasons_.size() >= kMostReasons) return;
    Refused& refused = reasons_[reason];
    if (++refused.count > 1) return;
    refused.first_line = line;
    progress_.clear();
    note("line " + std::to_string(line) + " refused: " + reason);
  }
};

int publish(const PubOptions& options) {
  if (options.producer != 0 && !options.sequence) {
    return misuse(Error{"--producer without --sequence",
                        "name the number of the first batch: the server takes what is not above "
                        "the last number of a producer for a repetition"});
  }
  auto reader = make_reader(options.form, nullptr);
  if (!reader) return misuse(reader.error());
  EventStream stream(*std::move(reader), batch_of(options));
  if (auto opened = stream.open(options.file); !opened) return fail(opened.error());
  auto client = client_options("pub", options.login);
  if (!client) return fail(client.error());
  client->heartbeats = true;
  client->producer = options.producer;
  auto publisher = Publisher::open(
      options.to,
      {.client = *client, .acknowledge = options.acknowledge, .first_sequence = options.sequence});
  if (!publisher) return fail(publisher.error());
  LinePublisher lines(*publisher, stream, options);
  const auto done = lines.run();
  if (!done) fail(done.error());
  lines.summarise();
  return done && lines.refused() == 0 ? kSuccess : kFailure;
}

}  // namespace

void add_pub(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "pub",
      "Publish events from a file or from stdin to a running server. Exit code 1\n"
      "when events were refused or no line could be used");
  const auto options = std::make_shared<PubOptions>();
  command->add_option("FILE", options->file, "Event lines and ticks; - is stdin")
      ->capture_default_str();
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  add_event_form(command, options->form, "--format");
  command
      ->add_option("--stamp", options->stamp,
                   "event: keep the lines' times, the server stamps lines without; server: it "
                   "stamps all, and ticks are left out")
      ->check(one_of({"event", "server"}))
      ->capture_default_str();
  command->add_option("--batch", options->batch, "Events sent at once at most")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--rate", options->rate, "Events per second; 0 is as fast as possible")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  const std::map<std::string, Acknowledge> levels = {{"none", Acknowledge::accepted},
                                                     {"accepted", Acknowledge::accepted},
                                                     {"processed", Acknowledge::processed},
                                                     {"durable", Acknowledge::durable}};
  command
      ->add_option(
          "--ack", options->acknowledge,
          "When an event counts as accepted: when it has its place; when its composites are\n"
          "on their way; when it survives a crash. none is as accepted. Without, the server's\n"
          "journal.durability decides")
      ->transform(number_of(levels))
      ->option_text("none|accepted|processed|durable");
  auto* producer =
      command
          ->add_option(
              "--producer", options->producer,
              "Number of your choice: the same file may be published again with it and the\n"
              "same --sequence, and what was applied is not applied twice")
          ->check(CLI::Range(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()))
          ->option_text("N");
  command
      ->add_option("--sequence", options->sequence,
                   "Number of the first batch; each has the next one. Larger than those before")
      ->needs(producer)
      ->option_text("N");
  add_login(*command, options->login);
  command->callback([options, &exit_code] { exit_code = publish(*options); });
}

}  // namespace gorgo::tools

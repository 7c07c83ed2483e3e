#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "gorgo/client.hpp"
#include "tools/bad_lines.hpp"
#include "tools/commands.hpp"
#include "tools/event_form.hpp"
#include "tools/event_stream.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"

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
  Acknowledge acknowledge = Acknowledge::accepted;
  std::uint64_t producer = 0;  // 0: a random one, and nothing is repeated
  std::uint64_t sequence = 1;  // of the first batch, where the producer is named
};

/// How many events are sent at once. At a low rate a batch holds what is due in a tenth of a
/// second.
std::size_t batch_of(const PubOptions& options) {
  if (options.rate <= 0) return options.batch;
  return std::clamp<std::size_t>(static_cast<std::size_t>(options.rate / 10), 1, options.batch);
}

/// Publishes batches and keeps the accounts.
class LinePublisher {
 public:
  LinePublisher(Client& client, const PubOptions& options)
      : client_(client), options_(options), bad_lines_(options.file) {}

  /// Publishes a tick in order with the events around it. Where the server stamps events, it makes
  /// the ticks as well.
  Result<void> tick(Timestamp timestamp, EventStream& stream) {
    ++taken_;
    if (options_.stamp == "server") return {};
    if (auto published = publish(stream.take()); !published) return published;
    if (const auto ticked = client_.tick(timestamp); !ticked) {
      ++refused_;
      show(ticked.error(), stream.line());
    }
    return {};
  }

  Result<void> publish(ReadEvents read) {
    if (read.lines.empty()) return {};
    taken_ += read.lines.size();
    EventBatch batch = read.events.batch();
    if (options_.stamp == "server") {
      for (EventTable& table : batch.tables) table.timestamps = {};
    }
    if (options_.rate > 0) wait_for_turn();
    PublishOptions how{.acknowledge = options_.acknowledge, .sequence = {}};
    if (options_.producer != 0) how.sequence = options_.sequence + batches_++;
    const auto published = client_.publish(batch, how);
    if (!published) return published.error();
    sent_ += read.lines.size();
    accepted_ += published->accepted;
    refused_ += published->refused;
    duplicates_ += published->duplicates;
    for (const Refusal& refusal : published->refusals) {
      show({refusal.reason, refusal.hint}, read.lines[refusal.index]);
    }
    return {};
  }

  void skip(const Error& error) { bad_lines_.add(error); }

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
  /// The error of a file without a line that could be used.
  Result<void> check() const { return bad_lines_.check(taken_); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostReasons = 20;

  Client& client_;
  const PubOptions& options_;
  std::uint64_t sent_ = 0, accepted_ = 0, refused_ = 0;
  std::uint64_t taken_ = 0;  // lines
  std::uint64_t duplicates_ = 0, batches_ = 0;
  BadLines bad_lines_;
  struct Refused {
    std::uint64_t first_line = 0;
    std::uint64_t count = 0;
  };
  std::map<std::string, Refused> reasons_;
  const Clock::time_point start_ = Clock::now();

  void wait_for_turn() const {
    const std::chrono::duration<double> due(static_cast<double>(sent_) / options_.rate);
    const auto left = start_ + std::chrono::duration_cast<Clock::duration>(due) - Clock::now();
    const auto nanoseconds = std::chrono::nanoseconds(left).count();
    if (nanoseconds <= 0) return;
    const timespec pause{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    nanosleep(&pause, nullptr);
  }

  void show(const Error& refusal, std::uint64_t line) {
    const std::string reason = refusal.to_string();
    if (!reasons_.contains(reason) && reasons_.size() >= kMostReasons) return;
    Refused& refused = reasons_[reason];
    if (++refused.count > 1) return;
    refused.first_line = line;
    std::fprintf(stderr, "gorgo: line %llu refused: %s\n", static_cast<unsigned long long>(line),
                 reason.c_str());
  }
};

Result<void> publish_all(EventStream& stream, LinePublisher& publisher, bool repeatable) {
  Result<void> published;
  const auto publish = [&] {
    published = publisher.publish(stream.take());
    return published.has_value();
  };
  const auto tick = [&](Timestamp timestamp) {
    published = publisher.tick(timestamp, stream);
    return published.has_value();
  };
  const auto skip = [&](const Error& error) {
    publisher.skip(error);
    return true;
  };
  // A repetition has to cut the same batches, and pauses of the input are never the same.
  const auto pause = [&] { return repeatable || publish(); };
  const auto read = stream.read({.full = publish, .tick = tick, .bad_line = skip, .pause = pause});
  return published ? read : published;
}

int publish(const PubOptions& options) {
  auto reader = make_reader(options.form, nullptr);
  if (!reader) return misuse(reader.error());
  EventStream stream(*std::move(reader), batch_of(options));
  if (auto opened = stream.open(options.file); !opened) return fail(opened.error());
  auto client = connect(options.to, "pub", options.login, {.producer = options.producer});
  if (!client) return fail(client.error());
  LinePublisher publisher(*client, options);
  auto done = publish_all(stream, publisher, options.producer != 0);
  if (done) done = publisher.check();
  if (!done) fail(done.error());
  publisher.summarise();
  return done && publisher.refused() == 0 ? kSuccess : kFailure;
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
      ->check(CLI::IsMember({"event", "server"}))
      ->capture_default_str();
  command->add_option("--batch", options->batch, "Events sent at once at most")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--rate", options->rate, "Events per second; 0 is as fast as possible")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  const std::map<std::string, Acknowledge> levels = {{"none", Acknowledge::none},
                                                     {"accepted", Acknowledge::accepted},
                                                     {"processed", Acknowledge::processed},
                                                     {"durable", Acknowledge::durable}};
  command
      ->add_option("--ack", options->acknowledge,
                   "What each batch waits for: nothing; that its events are accepted or refused; "
                   "that\ntheir composites are on their way; that they survive a crash")
      ->transform(CLI::CheckedTransformer(levels))
      ->option_text("none|accepted|processed|durable");
  auto* producer =
      command
          ->add_option("--producer", options->producer,
                       "Number of your choice: the same file may be published again with it, and\n"
                       "what was applied is not applied twice")
          ->check(CLI::Range(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()))
          ->option_text("N");
  command
      ->add_option("--sequence", options->sequence,
                   "Number of the first batch; each has the next one. Larger than those before")
      ->needs(producer)
      ->option_text("N=1");
  add_login(*command, options->login);
  command->callback([options, &exit_code] { exit_code = publish(*options); });
}

}  // namespace gorgo::tools

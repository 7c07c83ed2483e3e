#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/time_text.hpp"
#include "gorgo/publisher.hpp"
#include "tools/bad_lines.hpp"
#include "tools/commands.hpp"
#include "tools/event_form.hpp"
#include "tools/event_stream.hpp"
#include "tools/login.hpp"
#include "tools/number_text.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/wall_clock.hpp"

namespace gorgo::tools {
namespace {

struct ReplayOptions {
  Login login;
  std::string to = "127.0.0.1:7450";
  std::string file;
  EventForm form;
  std::string speed = "1x";
  std::string shift_to;
};

/// How many seconds of the file pass in one; 0: as many as the server takes. Nothing: it is no
/// speed.
std::optional<double> speed_of(const std::string& text) {
  if (text == "max") return 0;
  if (!text.ends_with('x')) return std::nullopt;
  const auto factor = number<double>(std::string_view(text).substr(0, text.size() - 1));
  return factor && *factor > 0 ? factor : std::nullopt;
}

/// Publishes each event when its turn has come, whatever the server has answered by then.
class Replayer {
 public:
  Replayer(Publisher& publisher, EventStream& stream, const ReplayOptions& options)
      : publisher_(publisher),
        stream_(stream),
        speed_(*speed_of(options.speed)),
        shifted_(options.shift_to == "now"),
        bad_lines_(options.file) {}

  Result<void> run() {
    Result<void> done;
    const auto publish = [&] {
      done = publish_all(stream_.take());
      return done.has_value();
    };
    const auto tick = [&](Timestamp timestamp) {
      if (publish()) done = publish_tick(timestamp);
      return done.has_value();
    };
    const auto skip = [&](const Error& error) {
      progress_.clear();
      bad_lines_.add(error);
      return true;
    };
    const auto read =
        stream_.read({.full = publish, .tick = tick, .bad_line = skip, .pause = publish});
    progress_.clear();
    if (!read) return read;
    if (!done) return done;
    return bad_lines_.check(lines_.size());
  }

  /// Waits for the answers, says what became of the events, and returns whether all were accepted.
  bool finish() {
    const Outcome outcome = publisher_.drain();
    bad_lines_.summarise();
    std::fprintf(stderr, "sent %zu, accepted %llu, refused %llu, bad lines %llu\n", lines_.size(),
                 static_cast<unsigned long long>(outcome.published.accepted),
                 static_cast<unsigned long long>(outcome.published.refused),
                 static_cast<unsigned long long>(bad_lines_.count()));
    tell_refusals(outcome.published.refusals);
    if (behind_ > kMuchBehind) {
      note("events were sent up to " + time_text(static_cast<double>(behind_)) +
           " after their turn");
    }
    if (outcome.kind == Outcome::Kind::unknown) fail(outcome.reason);
    return outcome.kind == Outcome::Kind::accepted;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Duration kMuchBehind = 100'000'000;

  Publisher& publisher_;
  EventStream& stream_;
  const double speed_;
  const bool shifted_;
  BadLines bad_lines_;
  Progress progress_;
  const Clock::time_point start_ = Clock::now();
  const Timestamp now_ = wall_now();
  std::optional<Timestamp> first_;    // of the file
  Timestamp last_ = 0;                // of the file, where `max` shifts times
  Timestamp last_shifted_ = 0;        // what it was shifted to
  std::vector<std::uint64_t> lines_;  // by event
  Duration behind_ = 0;

  void tell_refusals(const std::vector<Refusal>& refusals) const {
    constexpr std::size_t kShown = 20;
    bool late = false;
    for (std::size_t i = 0; i < std::min(kShown, refusals.size()); ++i) {
      const Refusal& refusal = refusals[i];
      const std::uint64_t line = refusal.index < lines_.size() ? lines_[refusal.index] : 0;
      note("line " + std::to_string(line) +
           " refused: " + Error{refusal.reason, refusal.hint}.to_string());
      late = late || refusal.reason.find("behind the clock") != std::string::npos;
    }
    if (!late || shifted_) return;
    note(
        "the server has seen later times than those of the file: --shift-to now has its events "
        "happen now");
  }

  /// Waits for the turn of a timestamp and returns what it is to be published with.
  Timestamp take_turn(Timestamp timestamp) {
    if (!first_) first_ = timestamp;
    if (speed_ == 0) return shifted_ ? shift_to_sending(timestamp) : timestamp;
    const Duration since = timestamp - *first_;
    const auto due = static_cast<Duration>(static_cast<double>(since) / speed_);
    const Duration passed = std::chrono::nanoseconds(Clock::now() - start_).count();
    behind_ = std::max(behind_, passed - due);
    if (due > passed) wait(due - passed);
    return shifted_ ? now_ + due : timestamp;
  }

  /// At full speed an event happens when it is sent. Events that share a time in the file keep
  /// sharing one, and those that follow each other stay in order.
  Timestamp shift_to_sending(Timestamp timestamp) {
    if (last_shifted_ != 0 && timestamp <= last_) return last_shifted_;
    last_ = timestamp;
    last_shifted_ = std::max(wall_now(), last_shifted_ + 1);
    return last_shifted_;
  }

  /// Events that are sent already do not wait for those whose turn is later.
  void wait(Duration time) {
    show();
    publisher_.run_for(time);
  }

  void show() { progress_.show(stream_.share_read(), lines_.size()); }

  Result<void> publish_all(ReadEvents read) {
    std::size_t next = 0;
    for (BatchCursor cursor(read.events.batch()); !cursor.done(); cursor.advance()) {
      Event event = cursor.to_event();
      if (event.timestamp) event.timestamp = take_turn(*event.timestamp);
      if (auto sent = publisher_.send(event); !sent) return sent;
      lines_.push_back(read.lines[next++]);
    }
    show();
    return {};
  }

  Result<void> publish_tick(Timestamp timestamp) { return publisher_.tick(take_turn(timestamp)); }
};

int replay(const ReplayOptions& options) {
  auto reader = make_reader(options.form, nullptr);
  if (!reader) return misuse(reader.error());
  EventStream stream(*std::move(reader), 1000);
  if (auto opened = stream.open(options.file); !opened) return fail(opened.error());
  auto client = client_options("replay", options.login);
  if (!client) return fail(client.error());
  client->heartbeats = true;
  auto publisher = Publisher::open(options.to, {.client = *client});
  if (!publisher) return fail(publisher.error());
  Replayer replayer(*publisher, stream, options);
  const auto done = replayer.run();
  if (!done) fail(done.error());
  return replayer.finish() && done ? kSuccess : kFailure;
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "replay",
      "Publish the events of a file at the pace of their times. Slow answers of the server hold\n"
      "nothing up. Exit code 1 when events were refused or no line could be used");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("FILE", options->file, "Event lines and ticks, or CSV; - is stdin")
      ->required();
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  command
      ->add_option("--speed", options->speed,
                   "1x, 10x, 0.5x, or max: as fast as the server takes it")
      ->check([](const std::string& text) {
        return speed_of(text) ? std::string() : "'" + text + "' is no speed: 10x, or max";
      })
      ->option_text("FACTOR=1x");
  command
      ->add_option(
          "--shift-to", options->shift_to,
          "now: each event happens when its turn comes. The first happens now; at 10x the\n"
          "others follow ten times as closely as in the file, and so rules see them")
      ->check(one_of({"now"}))
      ->option_text("now");
  add_event_form(command, options->form);
  add_login(*command, options->login);
  command->callback([options, &exit_code] { exit_code = replay(*options); });
}

}  // namespace gorgo::tools

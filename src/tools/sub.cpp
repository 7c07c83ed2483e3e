#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codec/event_text.hpp"
#include "gorgo/client.hpp"
#include "tools/commands.hpp"
#include "tools/latency.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/time_option.hpp"
#include "tools/wall_clock.hpp"

namespace gorgo::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct SubOptions {
  Login login;
  std::string from = "127.0.0.1:7450";
  std::vector<std::string> texts;
  std::uint64_t count = 0;  // 0: without end
  Duration timeout = 0;     // 0: without end
  bool latency = false;
  SlowPolicy slow = SlowPolicy::server_default;
  std::uint64_t ahead = 0;  // events; 0: no credit
};

volatile sig_atomic_t stop_requested = 0;

/// SIGINT and SIGTERM end the subscription as its timeout would.
void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { stop_requested = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool subscribe(Client& client, const SubOptions& options) {
  for (const std::string& text : options.texts) {
    SubscribeOptions wanted{.slow = options.slow};
    if (options.ahead > 0) wanted.credit_events = options.ahead;
    const auto subscribed = client.subscribe(text, wanted);
    if (!subscribed) {
      fail(subscribed.error());
      return false;
    }
    std::fputs(subscribed->diagnostics.render().c_str(), stderr);
    if (subscribed->diagnostics.failed()) return false;
  }
  std::fprintf(stderr, "gorgo: subscribed at %s\n", options.from.c_str());
  return true;
}

/// Prints deliveries as they come: what is there at once is written at once.
class Printer {
 public:
  Printer(Client& client, const SubOptions& options)
      : client_(client),
        wanted_(options.count > 0 ? options.count : std::numeric_limits<std::uint64_t>::max()),
        limited_(options.timeout > 0),
        measured_(options.latency),
        ahead_(options.ahead),
        end_(Clock::now() + std::chrono::nanoseconds(options.timeout)) {}

  /// Prints until there is enough, the time is up or nothing can be written.
  Result<void> run() {
    while (printed_ < wanted_ && stop_requested == 0) {
      const auto first = client_.next(time_left());
      if (!first) return first.error();
      if (!*first) {
        if (limited_ && Clock::now() >= end_) return {};
        continue;
      }
      print(**first);
      const auto rest = take_rest();
      if (!flush()) return {};
      if (!rest) return rest;
      if (const auto allowed = allow_more(); !allowed) return allowed;
    }
    return {};
  }

  std::uint64_t printed() const { return printed_; }
  const Latency& latency() const { return latency_; }

 private:
  Client& client_;
  const std::uint64_t wanted_;
  const bool limited_;
  const bool measured_;
  const std::uint64_t ahead_;
  const Clock::time_point end_;
  const std::unique_ptr<codec::EventWriter> writer_ = codec::make_line_writer();
  std::string text_;
  std::uint64_t printed_ = 0;
  Latency latency_;
  std::map<std::uint32_t, std::uint64_t> taken_;  // events, by subscription, not allowed again yet

  Duration time_left() const {
    constexpr Duration kSlice = 100'000'000;  // a signal waits no longer
    if (!limited_) return kSlice;
    const Duration left = std::chrono::nanoseconds(end_ - Clock::now()).count();
    return std::clamp<Duration>(left, 0, kSlice);
  }

  void print(const Delivery& delivery) {
    const Event& event = delivery.event;
    if (measured_ && event.timestamp) latency_.add(wall_now() - *event.timestamp);
    writer_->write(text_, event);
    ++printed_;
    if (ahead_ > 0) ++taken_[delivery.subscription];
  }

  /// Allows as many events again as are printed, once that is half of what may come ahead.
  Result<void> allow_more() {
    for (auto& [subscription, events] : taken_) {
      if (events * 2 < ahead_) continue;
      if (const auto allowed = client_.allow(subscription, events); !allowed) return allowed;
      events = 0;
    }
    return {};
  }

  Result<void> take_rest() {
    constexpr std::size_t kEnough = std::size_t{1} << 16;
    while (printed_ < wanted_ && text_.size() < kEnough) {
      const auto next = client_.next(0);
      if (!next) return next.error();
      if (!*next) break;
      print(**next);
    }
    return {};
  }

  Result<void> flush() {
    std::fwrite(text_.data(), 1, text_.size(), stdout);
    text_.clear();
    return flush_output();
  }
};

int receive(const SubOptions& options) {
  auto client = connect(options.from, "sub", options.login, true);
  if (!client) return fail(client.error());
  if (!subscribe(*client, options)) return kFailure;
  stop_on_signals();
  Printer printer(*client, options);
  const auto done = printer.run();
  if (client->lost() > 0) {
    std::fprintf(stderr, "gorgo: %llu events were lost because they were read too slowly\n",
                 static_cast<unsigned long long>(client->lost()));
  }
  if (!done) return fail(done.error());
  if (options.latency) std::fprintf(stderr, "%s\n", printer.latency().summary().c_str());
  if (printer.printed() >= options.count) return kSuccess;
  return fail(Error{"only " + std::to_string(printer.printed()) + " of " +
                        std::to_string(options.count) + " events came in time",
                    ""});
}

}  // namespace

void add_sub(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("sub", "Subscribe and print events as event lines");
  const auto options = std::make_shared<SubOptions>();
  command
      ->add_option("SUBSCRIPTION", options->texts,
                   "A type and conditions: 'Fire(measuredTemp > 50)', 'Fire', '*'")
      ->required();
  command->add_option("--from", options->from, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  command->add_option("--count", options->count, "Stop after so many events");
  as_time(command->add_option(
              "--timeout", options->timeout,
              "Stop after this time, such as 5s; with --count, too few events are a failure"))
      ->option_text("TIME");
  const std::map<std::string, SlowPolicy> policies = {{"disconnect", SlowPolicy::disconnect},
                                                      {"drop", SlowPolicy::drop},
                                                      {"block", SlowPolicy::block}};
  command
      ->add_option("--slow", options->slow,
                   "When events come faster than they are printed: end, drop the oldest, or have "
                   "publishers wait; else what the server's configuration says")
      ->transform(CLI::CheckedTransformer(policies))
      ->option_text("disconnect|drop|block");
  command->add_option("--ahead", options->ahead,
                      "The server sends at most so many events of a subscription before they are "
                      "printed");
  command->add_flag("--latency", options->latency,
                    "At the end, print how old the events were when they arrived");
  add_login(*command, options->login);
  command->callback([options, &exit_code] { exit_code = receive(*options); });
}

}  // namespace gorgo::tools

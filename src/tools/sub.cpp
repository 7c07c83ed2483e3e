#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time_text.hpp"
#include "codec/event_text.hpp"
#include "gorgo/client.hpp"
#include "gorgo/subscription.hpp"
#include "tools/commands.hpp"
#include "tools/known_types.hpp"
#include "tools/latency.hpp"
#include "tools/login.hpp"
#include "tools/number_text.hpp"
#include "tools/option_checks.hpp"
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
  std::string format = "text", times = "ms";
  bool latency = false;
  SlowPolicy slow = SlowPolicy::server_default;
  std::uint64_t ahead = 0;  // events; 0: no credit
  std::string durable;      // name; empty: the subscription ends with the connection
};

volatile sig_atomic_t stop_requested = 0;

/// SIGINT and SIGTERM end the subscription as its timeout would.
void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { stop_requested = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

StreamOptions stream_options(const SubOptions& options, const ClientOptions& client) {
  StreamOptions stream{.client = client};
  stream.client.heartbeats = true;
  stream.subscribe.slow = options.slow;
  if (options.ahead > 0) stream.subscribe.credit_events = options.ahead;
  stream.subscribe.durable = options.durable;
  return stream;
}

/// Says on stderr what a user should know of a stream that begins.
void say_subscribed(const Subscription& stream, const SubOptions& options,
                    const ClientOptions& client) {
  print_diagnostics(stream.warnings());
  if (auto asking = Client::connect(options.from, client)) {
    for (const std::string& text : options.texts) note_unknown_type(*asking, text);
  }
  std::fprintf(stderr, "gorgo: subscribed at %s\n", options.from.c_str());
}

/// Prints events as they come, what is there at once together, and notices on stderr.
class Printer {
 public:
  Printer(Subscription& stream, const SubOptions& options)
      : stream_(stream),
        wanted_(options.count > 0 ? options.count : std::numeric_limits<std::uint64_t>::max()),
        limited_(options.timeout > 0),
        measured_(options.latency),
        as_json_(options.format == "json"),
        durable_(!options.durable.empty()),
        writer_(codec::make_line_writer(options.times == "ms" ? codec::TimeStyle::milliseconds
                                                              : codec::TimeStyle::rfc3339)),
        end_(Clock::now() + std::chrono::nanoseconds(options.timeout)) {}

  /// Prints until there is enough, the time is up or nothing can be written.
  Result<void> run() {
    while (printed_ < wanted_ && stop_requested == 0) {
      const auto first = stream_.next(time_left());
      if (!first) return first.error();
      if (!*first) {
        if (limited_ && Clock::now() >= end_) return {};
        continue;
      }
      take(**first);
      const auto rest = take_rest();
      if (!flush()) return {};
      // What is printed need not come again; before, it would be lost with this process.
      if (durable_ && last_ != Place()) stream_.acknowledge(last_);
      if (!rest) return rest;
    }
    return {};
  }

  std::uint64_t printed() const { return printed_; }
  std::uint64_t lost() const { return lost_; }
  const Latency& latency() const { return latency_; }

 private:
  Subscription& stream_;
  const std::uint64_t wanted_;
  const bool limited_;
  const bool measured_;
  const bool as_json_;  // notices stand among the events
  const bool durable_;
  const std::unique_ptr<codec::EventWriter> writer_;
  Place last_;  // that was printed
  const Clock::time_point end_;
  std::string text_;
  std::uint64_t printed_ = 0, lost_ = 0;
  Latency latency_;

  Duration time_left() const {
    constexpr Duration kSlice = 100'000'000;  // a signal waits no longer
    if (!limited_) return kSlice;
    const Duration left = std::chrono::nanoseconds(end_ - Clock::now()).count();
    return std::clamp<Duration>(left, 0, kSlice);
  }

  void take(const Item& item) {
    if (const auto* delivery = std::get_if<Delivery>(&item)) {
      print(*delivery);
    } else if (const auto* lost = std::get_if<Disconnected>(&item)) {
      const Error& why = lost->reason;
      tell({{"notice", "disconnected"}, {"reason", why.message}, {"code", why.code}},
           "the connection is lost: " + why.to_string() + "; trying to get it back");
    } else if (const auto* back = std::get_if<Reconnected>(&item)) {
      tell({{"notice", "reconnected"}, {"seconds", static_cast<double>(back->after) / 1e9}},
           "connected again after " + time_text(static_cast<double>(back->after)));
    } else if (const auto* gap = std::get_if<Gap>(&item)) {
      tell_gap(*gap);
    } else if (const auto* leaving = std::get_if<Leaving>(&item)) {
      const auto grace = static_cast<double>(leaving->grace);
      tell({{"notice", "leaving"}, {"seconds", grace / 1e9}},
           "the server stops in " + time_text(grace));
    }
  }

  /// Tells a notice: among the events, or on stderr.
  void tell(const nlohmann::ordered_json& json, const std::string& sentence) {
    as_json_ ? void(text_ += json.dump() + "\n") : note(sentence);
  }

  void tell_gap(const Gap& gap) {
    lost_ += gap.lost.value_or(0);
    // With another journal, what was printed before has a place that means something else there.
    if (!gap.lost) last_ = Place();
    const std::string many =
        gap.lost ? plural(*gap.lost, "event") + " did not come" : "events may not have come";
    nlohmann::ordered_json json = {{"notice", "gap"}, {"lost", nullptr}, {"reason", gap.reason}};
    if (gap.lost) json["lost"] = *gap.lost;
    tell(json, "gap: " + many + ": " + gap.reason);
  }

  void print(const Delivery& delivery) {
    const Event& event = delivery.event;
    if (measured_ && event.timestamp) latency_.add(wall_now() - *event.timestamp);
    writer_->write(text_, event);
    ++printed_;
    last_ = delivery.place;
  }

  Result<void> take_rest() {
    constexpr std::size_t kEnough = std::size_t{1} << 16;
    while (printed_ < wanted_ && text_.size() < kEnough) {
      const auto next = stream_.next(0);
      if (!next) return next.error();
      if (!*next) break;
      take(**next);
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
  if (!options.durable.empty() && options.texts.size() > 1) {
    return misuse(Error{"a durable subscription has one text", "give one SUBSCRIPTION"});
  }
  const auto client = client_options("sub", options.login);
  if (!client) return fail(client.error());
  auto stream = Subscription::open(options.from, options.texts, stream_options(options, *client));
  if (!stream) return fail(stream.error());
  say_subscribed(*stream, options, *client);
  stop_on_signals();
  Printer printer(*stream, options);
  auto done = printer.run();
  // The last acknowledgement shall reach the server.
  if (done && !options.durable.empty() && stream->is_connected()) done = stream->drain();
  if (printer.lost() > 0) {
    note(plural(printer.lost(), "event") + " lost because they were read too slowly");
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
  auto* command = app.add_subcommand(
      "sub",
      "Subscribe and print events as event lines. A lost connection comes back by\n"
      "itself; stderr says so, and where events may be missing");
  const auto options = std::make_shared<SubOptions>();
  command
      ->add_option("SUBSCRIPTION", options->texts,
                   "A type and conditions: 'Fire(measuredTemp > 50)', 'Fire', '*'")
      ->required();
  command->add_option("--to,--from", options->from, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  command->add_option("--count", options->count, "Stop after so many events")->check(positive());
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
      ->transform(number_of(policies))
      ->option_text("disconnect|drop|block");
  command->add_option("--ahead", options->ahead,
                      "The server sends at most so many events of a subscription before they are "
                      "printed");
  auto* ahead = command->get_option("--ahead");
  command
      ->add_option("--durable", options->durable,
                   "Name of a durable subscription: it begins when it is first used, and goes on\n"
                   "behind the last event that was printed, also after a crash of either side")
      ->check([](const std::string& name) { return name.empty() ? "the name is empty" : ""; })
      ->excludes(ahead)
      ->option_text("NAME");
  command
      ->add_option("--format", options->format,
                   "json: notices of lost connections and gaps stand among the events, as lines\n"
                   "with the key \"notice\", not on stderr")
      ->check(one_of({"text", "json"}))
      ->capture_default_str();
  command
      ->add_option("--output-times", options->times, "Times of events: ms since 1970, or rfc3339")
      ->check(one_of({"ms", "rfc3339"}))
      ->capture_default_str();
  command->add_flag("--latency", options->latency,
                    "At the end, print how old the events were when they arrived");
  add_login(*command, options->login);
  command->callback([options, &exit_code] { exit_code = receive(*options); });
}

}  // namespace gorgo::tools

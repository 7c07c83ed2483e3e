#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gorgo/client.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/login.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/terminal.hpp"
#include "tools/time_option.hpp"
#include "tools/top_view.hpp"

namespace gorgo::tools {
namespace {

struct TopOptions {
  std::string to = "127.0.0.1:7450";
  std::string format = "text";
  Duration interval = 1'000'000'000;
  bool once = false;
  TopOrder order = TopOrder::load;
  Login login;
};

/// Prints what happens within one interval.
int print_once(const TopOptions& options) {
  auto client = connect(options.to, "top", options.login);
  if (!client) return fail(client.error());
  const auto before = take_sample(*client);
  if (!before) return fail(before.error());
  std::this_thread::sleep_for(std::chrono::nanoseconds(options.interval));
  const auto now = take_sample(*client);
  if (!now) return fail(now.error());
  const TopView view(*before, *now, options.order);
  if (options.format == "json") {
    print_json(view.json());
    return kSuccess;
  }
  constexpr std::size_t kWhole = static_cast<std::size_t>(-1);
  for (const std::string& line : view.lines(kWhole, kWhole)) std::puts(line.c_str());
  return kSuccess;
}

/// The view of a server that may come and go.
class Watch {
 public:
  explicit Watch(const TopOptions& options) : options_(options), order_(options.order) {}

  /// Shows the server until the user has enough.
  void run() {
    while (true) {
      const auto problem = look();
      const Terminal::Size size = Terminal::size();
      std::vector<std::string> lines = {title()};
      if (problem) {
        lines.push_back("no answer, trying again: " + problem->message);
      } else if (before_) {
        const auto rest = TopView(*before_, *now_, order_).lines(size.width, size.height - 2);
        lines.insert(lines.end(), rest.begin(), rest.end());
      }
      for (std::string& line : lines) cut_to(line, size.width);
      terminal_.show(lines);
      if (!take_key()) return;
    }
  }

 private:
  const TopOptions& options_;
  Terminal terminal_;
  TopOrder order_;
  std::optional<Client> client_;
  std::optional<TopSample> before_, now_;

  std::string title() const {
    return "gorgo top " + options_.to + "   order: l load, r rate, m memory, n name   q quits";
  }

  /// Takes the next sample. An error: there is no server at the moment.
  std::optional<Error> look() {
    if (!client_) {
      auto client = connect(options_.to, "top", options_.login);
      if (!client) return client.error();
      client_.emplace(*std::move(client));
      now_.reset();
    }
    auto sample = take_sample(*client_);
    if (!sample) {
      client_.reset();
      return sample.error();
    }
    before_ = std::exchange(now_, *std::move(sample));
    return std::nullopt;
  }

  /// Waits for the end of the interval or a key. False: the user has enough.
  bool take_key() {
    const auto key = terminal_.key(before_ ? options_.interval : options_.interval / 4);
    if (key == 'q') return false;
    const std::map<char, TopOrder> orders = {{'l', TopOrder::load},
                                             {'r', TopOrder::rate},
                                             {'m', TopOrder::memory},
                                             {'n', TopOrder::name}};
    if (const auto found = orders.find(key.value_or(' ')); found != orders.end()) {
      order_ = found->second;
    }
    return true;
  }
};

int top(const TopOptions& options) {
  if (options.once || options.format == "json" || !Terminal::is_there()) {
    return print_once(options);
  }
  // A server that was never there is an error of the command line.
  if (const auto client = connect(options.to, "top", options.login); !client) {
    return fail(client.error());
  }
  Watch(options).run();
  return kSuccess;
}

}  // namespace

void add_top(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "top",
      "Show what a server does, again and again: rates, engines, the busiest connections, and\n"
      "rules by what they cost. LOAD is the time of one thread; what is under way is in BACKLOG.\n"
      "Where stdout is no terminal, it prints once");
  const auto options = std::make_shared<TopOptions>();
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  command->add_flag("--once", options->once, "Print what happens within one interval, and end");
  as_time(command->add_option("--interval", options->interval, "Between two views, such as 2s"))
      ->option_text("TIME=1s");
  const std::map<std::string, TopOrder> orders = {{"load", TopOrder::load},
                                                  {"rate", TopOrder::rate},
                                                  {"memory", TopOrder::memory},
                                                  {"name", TopOrder::name}};
  command->add_option("--sort", options->order, "How rules are ordered")
      ->transform(number_of(orders))
      ->option_text("load|rate|memory|name");
  as_format(command, options->format);
  add_login(*command, options->login);
  command->callback([options, &exit_code] { exit_code = top(*options); });
}

}  // namespace gorgo::tools

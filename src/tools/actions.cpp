#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "gorgo/client.hpp"
#include "protocol/info_json.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/listing.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/time_option.hpp"

namespace gorgo::tools {
namespace {

using protocol::to_json;

struct ActionsOptions {
  std::string to = "127.0.0.1:7450";
  std::string format = "text";
  std::string name;
  std::vector<std::string> matchers;
  Duration lasts = 3'600'000'000'000;
  std::string comment;
  std::uint64_t silence = 0;
  Login login;
};

void print_list(const std::vector<ActionTarget>& targets) {
  Table rows = {{"NAME", "KIND", "STATE", "WAITING", "DONE", "ATTEMPTS", "FAILURES", "DEAD", "LOST",
                 "ADDRESS"}};
  for (const ActionTarget& target : targets) {
    rows.push_back({target.name, target.kind, target.dry_run ? "dry run" : target.state,
                    std::to_string(target.waiting), std::to_string(target.done),
                    std::to_string(target.attempts), std::to_string(target.failures),
                    std::to_string(target.dead), std::to_string(target.lost), target.address});
  }
  print_table(rows);
}

void print_target(const ActionTarget& target) {
  const auto json = to_json(target);
  for (const auto& [key, value] : json.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!text.empty()) std::printf("%-13s %s\n", (key + ":").c_str(), text.c_str());
  }
}

int list(const ActionsOptions& options) {
  auto client = connect(options.to, "actions", options.login);
  if (!client) return fail(client.error());
  const auto targets = client->actions();
  if (!targets) return fail(targets.error());
  if (options.format == "text") {
    print_list(*targets);
    return kSuccess;
  }
  auto json = nlohmann::ordered_json::array();
  for (const ActionTarget& target : *targets) json.push_back(to_json(target));
  print_json(json);
  return kSuccess;
}

int show(const ActionsOptions& options) {
  auto client = connect(options.to, "actions", options.login);
  if (!client) return fail(client.error());
  const auto targets = client->actions();
  if (!targets) return fail(targets.error());
  const auto target = std::ranges::find(*targets, options.name, &ActionTarget::name);
  if (target == targets->end()) {
    return fail({"the server has no target '" + options.name + "'", "gorgo actions lists them"});
  }
  if (options.format == "text") {
    print_target(*target);
  } else {
    print_json(to_json(*target));
  }
  return kSuccess;
}

int test(const ActionsOptions& options) {
  auto client = connect(options.to, "actions", options.login);
  if (!client) return fail(client.error());
  const auto sent = client->test_action(options.name);
  if (!sent) return fail(sent.error());
  std::printf("a test event is on its way to %s\n", options.name.c_str());
  return kSuccess;
}

int retry(const ActionsOptions& options) {
  auto client = connect(options.to, "actions", options.login);
  if (!client) return fail(client.error());
  const auto events = client->retry_action(options.name);
  if (!events) return fail(events.error());
  std::printf("%llu events are tried again\n", static_cast<unsigned long long>(*events));
  return kSuccess;
}

int silence(const ActionsOptions& options) {
  auto client = connect(options.to, "actions", options.login);
  if (!client) return fail(client.error());
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const auto id = client->silence_action(
      options.name, {.matchers = options.matchers,
                     .until = arithmetic::saturating_add(now.count(), options.lasts),
                     .comment = options.comment});
  if (!id) return fail(id.error());
  std::printf("silence %llu holds\n", static_cast<unsigned long long>(*id));
  return kSuccess;
}

int unsilence(const ActionsOptions& options) {
  auto client = connect(options.to, "actions", options.login);
  if (!client) return fail(client.error());
  const auto ended = client->end_silence(options.name, options.silence);
  return ended ? kSuccess : fail(ended.error());
}

}  // namespace

void add_actions(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "actions",
      "List the targets of actions of a server, where it goes when rules have detected something:\n"
      "whether they work and how much was done; or test one, or have it try again");
  const auto options = std::make_shared<ActionsOptions>();
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  add_login(*command, options->login);
  as_format(command, options->format);
  command->add_subcommand("list", "List them, as without a command")->fallthrough();
  std::vector<std::pair<CLI::App*, int (*)(const ActionsOptions&)>> runs;
  const auto on_one = [&](const char* name, const char* about, int (*run)(const ActionsOptions&)) {
    auto* one = command->add_subcommand(name, about)->fallthrough();
    one->add_option("NAME", options->name, "Its name in the configuration")->required();
    runs.emplace_back(one, run);
    return one;
  };
  on_one("show", "One of them, with its problem", show);
  on_one("test", "Have one send an event that says it is a test", test);
  on_one("retry", "Have one send again what was given up", retry);
  auto* quiet = on_one("silence", "Have one do nothing about some events for a while", silence);
  quiet->add_option(
      "MATCHER", options->matchers,
      "Which events: area=A1 for an attribute's value, type=Fire; all must hold. Without "
      "any, all events");
  as_time(quiet->add_option("--for", options->lasts, "How long"))->option_text("TIME=1h");
  quiet->add_option("--comment", options->comment, "Why, for whoever looks at it")
      ->option_text("TEXT");
  on_one("unsilence", "End a silence", unsilence)
      ->add_option("ID", options->silence, "Its number, which show has")
      ->required();
  command->require_subcommand(0, 1);
  command->callback([options, runs, &exit_code] {
    for (const auto& [one, run] : runs) {
      if (one->parsed()) exit_code = run(*options);
      if (one->parsed()) return;
    }
    exit_code = list(*options);
  });
}

}  // namespace gorgo::tools

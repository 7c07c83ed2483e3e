#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "codec/timestamp.hpp"
#include "gorgo/client.hpp"
#include "gorgo/processor.hpp"
#include "tools/append_events.hpp"
#include "tools/bad_lines.hpp"
#include "tools/color.hpp"
#include "tools/commands.hpp"
#include "tools/contexts.hpp"
#include "tools/evaluation.hpp"
#include "tools/event_form.hpp"
#include "tools/event_stream.hpp"
#include "tools/format_option.hpp"
#include "tools/login.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/settings.hpp"
#include "tools/table_files.hpp"
#include "tools/time_option.hpp"
#include "tools/why_text.hpp"

namespace gorgo::tools {
namespace {

struct Options {
  Login login;
  std::vector<std::string> rules;
  std::string events;
  std::vector<std::string> tables;  // TYPE=FILE
  std::string to;
  std::string rule;
  std::string at;
  std::size_t last = WhyOptions().last;
  Duration lateness = ProcessorOptions().lateness;
  Duration max_late = ProcessorOptions().max_late;
  bool reach_deadlines = false;
  std::string format = "text";
  EventForm form;
  Settings settings;
};

/// Takes in all events, what `lateness` holds included. Lines that are no events are reported and
/// skipped.
Result<void> feed(const Options& options, Processor& processor) {
  TableRows tables;
  if (auto rows = tables.read(options.tables, processor.schema()); !rows) return rows;
  auto reader = make_reader(options.form, &processor.schema());
  if (!reader) return reader.error();
  EventStream stream(*std::move(reader));
  if (auto opened = stream.open(options.events); !opened) return opened;
  const auto deliver = [](const OutputBatch&) {};
  const auto process = [&] {
    processor.process(deliver);
    return true;
  };
  BadLines bad_lines(options.events);
  const auto bad_line = [&](const Error& error) {
    bad_lines.add(error);
    return true;
  };
  std::uint64_t used = 0;
  const auto append = [&] {
    return tables.append(stream.take(), processor, used, {.refused = bad_line, .process = process});
  };
  const auto tick = [&](Timestamp timestamp) {
    if (!append() || !tables.append_until(timestamp, processor)) return false;
    const auto ticked = processor.tick(timestamp);
    if (!ticked) return bad_line(at_line(stream.line(), ticked.error()));
    ++used;
    return true;
  };
  auto read =
      stream.read({.full = append,
                   .tick = tick,
                   .bad_line = [&](const Error& error) { return append() && bad_line(error); },
                   .pause = [&] { return append() && process(); }});
  if (read && !tables.error()) tables.append_rest(processor);
  if (tables.error()) return *tables.error();
  options.reach_deadlines ? processor.finish(deliver) : processor.flush(deliver);
  bad_lines.summarise();
  return read ? bad_lines.check(used) : read;
}

/// The rule of the files that is asked for; without a name it is the only one there is.
Result<std::string> chosen_rule(const std::string& name, const Processor& processor) {
  std::vector<std::string> names;
  for (const auto& rule : processor.rules()) names.push_back(rule.name);
  if (name.empty() && names.size() == 1) return {std::in_place, names.front()};
  if (std::ranges::count(names, name) > 0) return {std::in_place, name};
  std::string all;
  for (const std::string& known : names) all += (all.empty() ? "" : ", ") + known;
  if (name.empty()) return Error{"there are several rules", "--rule says which: " + all};
  const auto is_end = [&](const std::string& known) { return known.ends_with("." + name); };
  const auto qualified = std::ranges::find_if(names, is_end);
  const std::string close(qualified != names.end() ? *qualified : closest_name(name, names));
  return Error{"there is no rule `" + name + "`",
               close.empty() ? "--rule says which: " + all : "did you mean `" + close + "`?"};
}

/// The processor has the rules.
Result<Why> ask_offline(const Options& options, const WhyOptions& asked, Processor& processor) {
  const auto rule = chosen_rule(options.rule, processor);
  if (!rule) return rule.error();
  if (auto fed = feed(options, processor); !fed) return fed.error();
  return processor.why(*rule, asked);
}

Result<Why> ask_server(const Options& options, const WhyOptions& asked) {
  auto client = connect(options.to, "why", options.login);
  if (!client) return client.error();
  return client->why(options.rule, asked);
}

int print(const Result<Why>& answer, const std::string& format) {
  if (!answer) return fail(answer.error());
  const std::string text = format == "json" ? to_json_text(*answer) : to_text(*answer);
  std::fputs(harmless(text, stdout).c_str(), stdout);
  return kSuccess;
}

int why(const Options& options) {
  WhyOptions asked{.last = options.last, .at = {}};
  if (!options.at.empty()) {
    const auto at = codec::parse_timestamp(options.at);
    if (!at) return fail(at.error());
    asked.at = *at;
  }
  if (!options.to.empty()) return print(ask_server(options, asked), options.format);
  Processor processor({.lateness = options.lateness,
                       .max_late = options.max_late,
                       .remember = std::numeric_limits<Duration>::max()});
  const auto rules = read_rules(options.rules, options.settings);
  if (!rules || !deploy_sources(*rules, processor)) return kFailure;
  return print(ask_offline(options, asked, processor), options.format);
}

/// Where files are named, only `--to` itself asks a server, not a context.
bool asks_context(const Options& options) {
  return options.rules.empty() && options.events.empty() && options.tables.empty() &&
         !options.settings.any();
}

/// Checks that there are either rules and events, or a server and a rule.
void check(const Options& options) {
  if (options.to.empty()) {
    if (options.rules.empty()) throw CLI::RequiredError("RULES, or --to,");
    if (options.events.empty()) throw CLI::RequiredError("--events");
  } else {
    if (!options.rules.empty()) throw CLI::ExcludesError("RULES", "--to");
    if (options.rule.empty()) throw CLI::RequiredError("--rule");
    if (options.settings.any()) throw CLI::ExcludesError("--set", "--to");
    if (!options.tables.empty()) throw CLI::ExcludesError("--table", "--to");
  }
}

}  // namespace

void add_why(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "why",
      "Show why a rule fired or did not: for each terminator, what every step of the rule\n"
      "was given and let through, and what came nearest to passing. Of rules and events in files,\n"
      "or of a server, as far as it remembers.");
  command->add_option("RULES", options->rules,
                      "Rule files, or folders of them, in the order of deployment");
  command->add_option("--events", options->events,
                      "Event lines and ticks, oldest first; - is standard input");
  command
      ->add_option("--table", options->tables,
                   "As of gorgo run: rows of a table, from a CSV file with a header")
      ->option_text("TYPE=FILE")
      ->allow_extra_args(false);
  const auto* const to =
      command->add_option("--to", options->to, "Instead of files: ask this server")
          ->option_text(kServerOfContext);
  command->add_option("--rule", options->rule, "Its full name; not needed where there is one rule");
  command->add_option(
      "--at", options->at,
      "Only events with this timestamp, in ms or as RFC 3339; also those that fail\n"
      "the conditions of the terminator");
  command->add_option("--last", options->last, "So many terminators, the newest")
      ->check(positive())
      ->capture_default_str();
  as_time(command->add_option("--lateness", options->lateness,
                              "As of gorgo run: how long events are held back"))
      ->option_text("TIME=0s");
  as_time(command->add_option("--max-late", options->max_late,
                              "As of gorgo run: refuse events further behind the clock"))
      ->option_text("TIME=10s");
  command->add_flag("--reach-deadlines", options->reach_deadlines,
                    "At the end, let the clock run on to every pending deadline");
  options->settings.add_option(command);
  add_event_form(command, options->form);
  as_format(command, options->format);
  add_login(*command, options->login);
  command->callback([options, to, &exit_code] {
    if (asks_context(*options)) {
      expect_known_server();
    } else if (to->count() == 0) {
      options->to.clear();
    }
    check(*options);
    exit_code = why(*options);
  });
}

}  // namespace gorgo::tools

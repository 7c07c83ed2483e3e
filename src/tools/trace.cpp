#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "codec/event_line.hpp"
#include "codec/event_notation.hpp"
#include "codec/json_text.hpp"
#include "codec/timestamp.hpp"
#include "gorgo/client.hpp"
#include "tools/append_events.hpp"
#include "tools/bad_lines.hpp"
#include "tools/commands.hpp"
#include "tools/event_form.hpp"
#include "tools/event_stream.hpp"
#include "tools/format_option.hpp"
#include "tools/known_types.hpp"
#include "tools/line_text.hpp"
#include "tools/login.hpp"
#include "tools/number_text.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"

namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;

struct TraceOptions {
  Login login;
  std::string to = "127.0.0.1:7450";
  std::string event;
  std::string events;  // a file, instead of one event
  EventForm form;
  std::string format = "text";
};

/// An event line, or the notation of rule tests with or without a time.
Result<Event> read_event(const std::string& text) {
  std::string_view rest = trimmed(text);
  if (rest.starts_with('{')) {
    auto event = codec::read_event_line(rest);
    if (!event) return at_line(1, event.error());
    return event;
  }
  auto event = rest.starts_with('@') ? codec::take_event(rest) : codec::take_unstamped_event(rest);
  if (event && !trimmed(rest).empty()) {
    return Error{"'" + std::string(rest) + "' behind the event", ""};
  }
  return event;
}

std::string milliseconds(Timestamp timestamp) {
  std::string text;
  codec::append_milliseconds(text, timestamp);
  return text;
}

std::string copies(std::uint64_t number) {
  return std::to_string(number) + (number == 1 ? " copy" : " copies") + " for subscribers";
}

void print_stage(const char* name, Duration duration, const std::string& what) {
  std::printf("  %-10s %12.1f us  %s\n", name, static_cast<double>(duration) / 1000.0,
              what.c_str());
}

void print_rules(const Trace& trace) {
  std::puts(trace.rules.empty() ? "no rule reads it" : "rules");
  for (const Trace::Rule& rule : trace.rules) {
    std::string did = rule.reads ? "reads its type" : "reads what it caused";
    if (rule.terminators > 0) did += ", " + plural(rule.terminators, "terminator");
    if (rule.terminators + rule.composites > 0) did += ", " + plural(rule.composites, "composite");
    std::printf("  %s: %s\n", rule.name.c_str(), did.c_str());
  }
}

void print(const Event& event, const Trace& trace) {
  std::printf("%s at %s: %s\n", event.type.c_str(), milliseconds(trace.timestamp).c_str(),
              trace.held ? "held back by lateness" : "evaluated");
  print_stage("queue", trace.queue, "from the socket to the engine thread");
  print_stage("ahead", trace.ahead, "what had come before");
  print_stage("sequence", trace.sequence, "checked, stamped, put in order");
  print_stage("evaluate", trace.evaluate, plural(trace.composites.size(), "composite"));
  print_stage("deliver", trace.deliver, copies(trace.copies));
  print_stage("round trip", trace.round_trip, "with the network and the reply");
  print_rules(trace);
  if (!trace.composites.empty()) std::puts("composites");
  for (const std::string& line : trace.composites) std::printf("  %s\n", line.c_str());
}

Json composite_json(const std::string& line) {
  Json json = Json::parse(line);
  const auto event = codec::read_event_line(line);
  if (event && event->timestamp) json["ts"] = codec::exact_milliseconds(*event->timestamp);
  return json;
}

Json to_json(const Trace& trace) {
  Json rules = Json::array(), composites = Json::array();
  for (const Trace::Rule& rule : trace.rules) {
    rules.push_back({{"name", rule.name},
                     {"reads", rule.reads},
                     {"terminators", rule.terminators},
                     {"composites", rule.composites}});
  }
  for (const std::string& line : trace.composites) composites.push_back(composite_json(line));
  return {{"ts", codec::exact_milliseconds(trace.timestamp)},
          {"held", trace.held},
          {"nanoseconds",
           {{"queue", trace.queue},
            {"ahead", trace.ahead},
            {"sequence", trace.sequence},
            {"evaluate", trace.evaluate},
            {"deliver", trace.deliver},
            {"round_trip", trace.round_trip}}},
          {"copies", trace.copies},
          {"rules", rules},
          {"composites", composites}};
}

/// Traces the events of a file, one by one; as JSON, a line for each.
class FileTracer {
 public:
  FileTracer(Client& client, EventStream& stream, const TraceOptions& options)
      : client_(client), stream_(stream), options_(options), bad_lines_(options.events) {}

  Result<void> run() {
    Result<void> done;
    const auto trace_all = [&] {
      done = trace(stream_.take());
      return done && flush_output();
    };
    const auto skip = [&](const Error& error) {
      bad_lines_.add(error);
      return true;
    };
    const auto tick = [&](Timestamp timestamp) {
      done = client_.tick(timestamp);
      return done.has_value();
    };
    const auto read =
        stream_.read({.full = trace_all, .tick = tick, .bad_line = skip, .pause = trace_all});
    bad_lines_.summarise();
    if (!done) return done;
    return read ? bad_lines_.check(traced_) : read;
  }

 private:
  Client& client_;
  EventStream& stream_;
  const TraceOptions& options_;
  BadLines bad_lines_;
  std::uint64_t traced_ = 0;

  Result<void> trace(ReadEvents read) {
    for (BatchCursor cursor(read.events.batch()); !cursor.done(); cursor.advance()) {
      const Event event = cursor.to_event();
      const auto traced = client_.trace(event);
      if (!traced) return at_line(read.lines.front(), traced.error());
      ++traced_;
      if (options_.format == "json") {
        std::puts(codec::json_text(to_json(*traced)).c_str());
      } else {
        print(event, *traced);
      }
    }
    return {};
  }
};

int trace_file(const TraceOptions& options) {
  auto reader = make_reader(options.form, nullptr);
  if (!reader) return misuse(reader.error());
  EventStream stream(*std::move(reader), 1);
  if (auto opened = stream.open(options.events); !opened) return fail(opened.error());
  auto client = connect(options.to, "trace", options.login);
  if (!client) return fail(client.error());
  const auto done = FileTracer(*client, stream, options).run();
  return done ? kSuccess : fail(done.error());
}

int trace(const TraceOptions& options) {
  if (!options.events.empty()) return trace_file(options);
  const auto event = read_event(options.event);
  if (!event) return fail(event.error());
  auto client = connect(options.to, "trace", options.login);
  if (!client) return fail(client.error());
  const auto traced = client->trace(*event);
  if (!traced) return fail(traced.error());
  if (traced->rules.empty()) note_unknown_type(*client, event->type);
  options.format == "json" ? print_json(to_json(*traced)) : print(*event, *traced);
  return kSuccess;
}

}  // namespace

void add_trace(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<TraceOptions>();
  auto* command = app.add_subcommand(
      "trace",
      "Publish one event and show its way through the server: how long each stage took, which\n"
      "rules it concerned and what it caused.");
  auto* event = command->add_option(
      "EVENT", options->event,
      "An event line, or as in rule tests: 'Temp(area=\"A1\", value=46.5)', with\n"
      "its time '@1000 Temp(...)'; without one the server stamps it");
  auto* events =
      command
          ->add_option("--events", options->events,
                       "Instead of EVENT: trace each event of this file; - is standard input")
          ->option_text("FILE")
          ->excludes(event);
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  as_format(command, options->format);
  add_event_form(command, options->form);
  add_login(*command, options->login);
  command->callback([options, event, events, &exit_code] {
    if (event->empty() && events->empty()) throw CLI::RequiredError("EVENT");
    exit_code = trace(*options);
  });
}

}  // namespace gorgo::tools

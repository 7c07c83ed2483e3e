#include "tools/why_text.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "codec/json_text.hpp"
#include "tools/number_text.hpp"

namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string_view kind_of(Loss::Kind kind) {
  constexpr std::string_view kNames[] = {"consumed", "condition", "negation",
                                         "filter",   "no_value",  "absence"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view kind_of(Step::Kind kind) {
  constexpr std::string_view kNames[] = {"terminator", "state", "filter", "where", "absence"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string verb_of(Loss::Kind kind) {
  switch (kind) {
    case Loss::Kind::no_value:
      return "without a value of ";
    case Loss::Kind::negation:
    case Loss::Kind::absence:
      return "excluded by ";
    default:
      return "failed ";
  }
}

std::string text_of(const Miss& miss) {
  return miss.event + ": " + miss.test + " failed: " + miss.found;
}

/// What became of a funnel, in a word or two.
std::string verdict(const Funnel& funnel) {
  switch (funnel.outcome) {
    case Funnel::Outcome::before_deployment:
      return "not seen: the rule was deployed later";
    case Funnel::Outcome::too_deep:
      return "not evaluated: as deep in the hierarchy as `max_depth` allows";
    case Funnel::Outcome::too_many:
      return "given up: more partial sequences than `max_sequences`";
    case Funnel::Outcome::stopped:
      return "given up: it takes longer than one question may (limits.why_ms), or the server stops";
    case Funnel::Outcome::counted:
      return "counted: number " + std::to_string(funnel.number) + " of " +
             std::to_string(funnel.every) + ", of which the last is the terminator";
    case Funnel::Outcome::evaluated:
      break;
  }
  std::string text =
      funnel.composites == 0 ? "no composite" : plural(funnel.composites, "composite");
  if (funnel.waiting > 0) text += ", " + std::to_string(funnel.waiting) + " waiting";
  if (funnel.cut > 0) text += ", " + std::to_string(funnel.cut) + " cut by @at_most";
  return text;
}

std::string numbers_of(const Step& step) {
  const std::string passed = std::to_string(step.passed) + " passed";
  switch (step.kind) {
    case Step::Kind::terminator:
      return step.passed > 0 ? "passed" : "failed";
    case Step::Kind::state: {
      std::string text = plural(step.candidates, "candidate");
      if (step.sequences > 1) text += " for " + plural(step.sequences, "partial sequence");
      text += ", " + passed;
      if (step.left < step.passed) text += ", " + std::to_string(step.left) + " chosen";
      return text;
    }
    case Step::Kind::filter:
    case Step::Kind::where:
      return plural(step.sequences, "sequence") + ", " + passed;
    case Step::Kind::absence:
      return plural(step.sequences, "composite") + " decided, " + passed;
  }
  return "";
}

void append_step(std::string& out, const Step& step) {
  const std::string keyword = step.kind == Step::Kind::filter ? "filter " : "";
  out += "  " + keyword + step.clause + ": " + numbers_of(step) + "\n";
  for (const Loss& loss : step.losses) {
    if (loss.count == 0) continue;
    out += "    " + std::to_string(loss.count) + " " + verb_of(loss.kind) + loss.test;
    out += ", nearest " + loss.nearest->event + ": " + loss.nearest->found + "\n";
  }
  if (!step.outside) return;
  out += "    nearest to the window: " + step.outside->event + ", " + step.outside->found + "\n";
}

/// A `where` in which nothing went wrong says nothing.
bool is_worth_showing(const Step& step) {
  if (step.sequences == 0) return false;
  return step.kind != Step::Kind::where || step.passed < step.sequences;
}

void append_funnel(std::string& out, const Funnel& funnel) {
  out += "\n" + funnel.event + ": " + verdict(funnel) + "\n";
  if (funnel.outcome == Funnel::Outcome::before_deployment) return;
  if (funnel.outcome == Funnel::Outcome::too_deep) return;
  if (funnel.outcome == Funnel::Outcome::counted) return;
  for (const Step& step : funnel.steps) {
    if (is_worth_showing(step)) append_step(out, step);
  }
  if (funnel.steps.back().sequences > 0 || funnel.complete > 0) {
    out += "  complete: " + std::to_string(funnel.complete) + "\n";
  }
  if (funnel.nearest) out += "  nearest miss: " + text_of(*funnel.nearest) + "\n";
  if (funnel.forgotten) out += "  (events that it could see may be forgotten by now)\n";
}

Json to_json(const std::optional<Miss>& miss) {
  if (!miss) return {};
  return {{"event", miss->event}, {"test", miss->test}, {"found", miss->found}};
}

Json to_json(const Step& step) {
  Json losses = Json::array();
  for (const Loss& loss : step.losses) {
    losses.push_back({{"kind", kind_of(loss.kind)},
                      {"test", loss.test},
                      {"count", loss.count},
                      {"nearest", to_json(loss.nearest)}});
  }
  return {
      {"kind", kind_of(step.kind)},       {"clause", step.clause}, {"sequences", step.sequences},
      {"candidates", step.candidates},    {"passed", step.passed}, {"left", step.left},
      {"outside", to_json(step.outside)}, {"losses", losses}};
}

Json to_json(const Funnel& funnel) {
  Json steps = Json::array();
  for (const Step& step : funnel.steps) steps.push_back(to_json(step));
  return {{"event", funnel.event},
          {"ts", codec::exact_milliseconds(funnel.timestamp)},
          {"outcome", to_string(funnel.outcome)},
          {"forgotten", funnel.forgotten},
          {"complete", funnel.complete},
          {"composites", funnel.composites},
          {"waiting", funnel.waiting},
          {"cut", funnel.cut},
          {"number", funnel.number},
          {"every", funnel.every},
          {"nearest", to_json(funnel.nearest)},
          {"steps", steps}};
}

}  // namespace

const char* to_string(Funnel::Outcome outcome) {
  constexpr const char* kNames[] = {"evaluated", "before_deployment", "too_deep",
                                    "too_many",  "stopped",           "counted"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::string to_text(const Why& why) {
  std::string out = "rule " + why.rule + ": " + plural(why.produced, "composite") + " of " +
                    plural(why.evaluated, "terminator") + " " + why.terminator + "\n";
  if (why.funnels.empty()) out += "\nno such event is remembered\n";
  for (const Funnel& funnel : why.funnels) append_funnel(out, funnel);
  return out;
}

std::string to_json_text(const Why& why) {
  Json funnels = Json::array();
  for (const Funnel& funnel : why.funnels) funnels.push_back(to_json(funnel));
  const Json all = {{"rule", why.rule},
                    {"terminator", why.terminator},
                    {"evaluated", why.evaluated},
                    {"produced", why.produced},
                    {"funnels", funnels}};
  return codec::json_text(all, 2) + "\n";
}

}  // namespace gorgo::tools

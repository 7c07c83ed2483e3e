#include "dispatch/placement/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace gorgo::dispatch {
namespace {

// Nanoseconds, as measured with `gorgo bench` on one core of a server, and on an H200.
constexpr double kTerminator = 80;  // a terminator, with all that every engine does for it
constexpr double kProbe = 50;       // a look-up in an index
constexpr double kVisit = 12;       // a candidate that an index gives
constexpr double kScan = 1.0;       // a candidate of a scan
constexpr double kTakeIn = 60;      // an event that an automaton takes in
constexpr double kPartial = 40;     // one more partial sequence
constexpr double kRound = 20'000;   // a round of a device
constexpr double kAsk = 60;         // a search of a device, on some threads of the host
constexpr double kPair = 0.0004;
constexpr double kIndex = 80;  // an event, to begin an index with
constexpr double kCopy = 15;   // an event, to begin a timeline with
constexpr double kUpload = 4;  // an event, to begin a mirror with

constexpr double kIndexed = 60;  // an event, to keep in a hash index
constexpr double kPlaced = 10;   // an event, to keep in a timeline or a mirror

/// The part of the events that a condition other than an equality lets through, where nothing is
/// known.
constexpr double kPassing = 0.3;

Load::Search search_of(const plan::Scan& scan, history::History& history, Duration width,
                       double terminators, double elapsed) {
  std::vector<Expr> subjects;
  for (const std::uint32_t i : scan.key) subjects.push_back(scan.comparisons[i].subject);
  const auto column = history.column(scan.column);
  const auto profile = column->profile(subjects);
  const auto kept = static_cast<double>(std::max<Duration>(1, history.reach(scan.column.type)));
  const auto events = static_cast<double>(profile.events);
  Load::Search search;
  search.keyed = !scan.key.empty();
  // Engines search without a key in a timeline, so a column that is searched is taken to have one.
  search.kept = !search.keyed && column->is_searched();
  search.candidates = events * std::min(1.0, static_cast<double>(width) / kept);
  const double keys = profile.keys > 0 ? static_cast<double>(profile.keys) : std::sqrt(events + 1);
  const auto residual =
      static_cast<double>(scan.comparisons.size() - scan.key.size() + scan.residual.size());
  search.matches = search.candidates / (search.keyed ? keys : 1.0) * std::pow(kPassing, residual);
  search.wanted = search.matches;
  search.arrivals = terminators > 0 ? events / kept * elapsed / terminators : 0;
  return search;
}

Duration width_of(const Span& span, const Rule& rule) {
  if (span.kind == SpanKind::between) return rule.states[span.second].width;
  return span.width;
}

double column_search(const Load::Search& search) {
  const double passing = search.matches / std::max(1.0, search.candidates);
  if (search.keyed) return kProbe + kVisit * std::min(search.matches, search.wanted + 1);
  const bool until_found = search.wanted < search.matches;
  const double seen =
      until_found ? std::min(search.candidates, (search.wanted + 1) / passing) : search.candidates;
  return kProbe + kScan * seen;
}

double column_cost(const Load& load) {
  double cost = kTerminator, partials = 1;
  for (const auto& state : load.states) {
    cost += partials * column_search(state);
    partials *= state.wanted;
  }
  for (const auto& other : load.others) cost += partials * column_search(other);
  return cost;
}

/// Every event makes partial sequences with those that the later states have begun. Without a key a
/// terminator looks at all of them.
double automaton_cost(const Load& load) {
  double cost = kTerminator + kProbe, partials = 1, sequences = 1;
  for (const auto& state : load.states) {
    sequences *= state.wanted;
    if (!state.keyed) cost += kPartial * state.candidates;
  }
  for (std::size_t i = load.states.size(); i-- > 0;) {
    const auto& state = load.states[i];
    cost += state.arrivals * (kTakeIn + kPartial * partials);
    partials = 1 + partials * state.matches;
  }
  cost += kVisit * std::max(sequences, partials);
  for (const auto& other : load.others) cost += sequences * column_search(other);
  return cost;
}

/// `each`: what an event within the window of a search costs.
template <class F>
double start_cost(const Load& load, F&& each) {
  double cost = 0;
  for (const auto* searches : {&load.states, &load.others}) {
    for (const auto& search : *searches) cost += search.candidates * each(search);
  }
  return cost;
}

double column_start(const Load& load) {
  return start_cost(load, [](const Load::Search&) { return kIndex; });
}

double device_start(const Load& load) {
  return start_cost(load, [](const auto& search) { return kUpload + (search.kept ? 0 : kCopy); });
}

double upkeep(const Load& load, bool indexes) {
  double cost = 0;
  for (const auto* searches : {&load.states, &load.others}) {
    for (const auto& search : *searches) {
      cost += search.arrivals * (indexes && search.keyed ? kIndexed : kPlaced);
    }
  }
  return load.has_rates ? cost : 0;
}

/// Every partial sequence that is within the windows has to be made again.
double automaton_start(const Load& load) {
  double cost = 0, partials = 1;
  for (std::size_t i = load.states.size(); i-- > 0;) {
    const auto& state = load.states[i];
    cost += state.candidates * (kTakeIn + kPartial * partials);
    partials = 1 + partials * state.matches;
  }
  return cost;
}

double device_cost(const Load& load) {
  double cost = kTerminator, partials = 1;
  const auto ask = [&](const Load::Search& search) {
    cost += kRound / load.batch + partials * (kAsk + kPair * search.candidates);
  };
  for (const auto& state : load.states) {
    ask(state);
    partials *= state.wanted;
  }
  for (const auto& other : load.others) ask(other);
  return cost;
}

}  // namespace

Load load_of(const plan::Plan& plan, history::History& history, double terminators, double elapsed,
             double batch) {
  const Rule& rule = plan.rule;
  const auto observed = [&](const plan::Scan& scan, Duration width) {
    return search_of(scan, history, width, terminators, elapsed);
  };
  Load load;
  load.batch = std::max(1.0, batch);
  for (std::size_t i = 1; i < rule.states.size(); ++i) {
    auto search = observed(plan.states[i].scan, rule.states[i].width);
    if (rule.states[i].selection != Selection::each) {
      search.wanted = std::min(search.matches, static_cast<double>(rule.states[i].k));
    }
    load.states.push_back(search);
  }
  for (std::size_t i = 0; i < plan.negations.size(); ++i) {
    auto search = observed(plan.negations[i], width_of(rule.negations[i].span, rule));
    search.wanted = std::min(search.matches, 1.0);
    load.others.push_back(search);
  }
  for (std::size_t i = 0; i < plan.aggregates.size(); ++i) {
    load.others.push_back(
        observed(plan.aggregates[i].scan, width_of(rule.aggregates[i].span, rule)));
  }
  return load;
}

std::optional<Estimate> estimate(std::string_view engine, const Load& load) {
  if (engine == "column")
    return Estimate{column_cost(load), column_start(load), upkeep(load, true)};
  if (engine == "automaton" && load.has_rates) {
    return Estimate{automaton_cost(load), automaton_start(load), upkeep(load, false)};
  }
  if (engine.starts_with("cuda")) {
    return Estimate{device_cost(load), device_start(load), upkeep(load, false)};
  }
  return std::nullopt;
}

}  // namespace gorgo::dispatch

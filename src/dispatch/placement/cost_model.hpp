#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "dispatch/rules/placement.hpp"
#include "history/history.hpp"
#include "plan/plan.hpp"

namespace gorgo::dispatch {

/// The observed load of a rule, as far as its cost depends on it.
struct Load {
  /// One search: what a state, a negation or an aggregate looks for, once for each partial sequence
  /// up to the state before it.
  struct Search {
    double candidates = 0;  ///< events of the column within the window
    double matches = 0;     ///< candidates that pass
    double wanted = 0;      ///< matches: all, or those that the selection takes
    double arrivals = 0;    ///< events of the column for each terminator
    bool keyed = false;     ///< whether candidates are compared for equality
    bool kept = false;      ///< whether the timeline for a scan exists already
  };
  std::vector<Search> states;  ///< searches of the states from 1 on
  std::vector<Search> others;  ///< of negations and aggregates, once for each sequence
  double batch = 1;            ///< terminators at a time
  bool has_rates = true;       ///< whether `arrivals` are known
};

/// `terminators` were evaluated of late while `elapsed` nanoseconds of event time went by, in
/// batches of `batch`.
Load load_of(const plan::Plan& plan, history::History& history, double terminators, double elapsed,
             double batch);

/// Unset for an engine that is not modelled, or whose model needs rates that are not known. The
/// estimate is right to within a factor of a few: it says what is worth trying, not what is best.
std::optional<Estimate> estimate(std::string_view engine, const Load& load);

}  // namespace gorgo::dispatch

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dispatch/placement/ledger.hpp"

namespace gorgo::dispatch {

/// The arrangement with a device and the CPU's other threads side by side. Each gets a share by its
/// speed, because a device has a fixed cost for any number of terminators. Unset unless one of the
/// engines is a device and the other shares terminators among threads.
std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b);

/// What a terminator costs where two engines share the terminators. `a` and `b` are what it costs
/// with each of them alone, in any unit. The speeds add up, as where CPU and GPU share a join in
/// Karnagel et al., "Stream Join Processing on Heterogeneous Processors" (BTW 2013).
inline double shared_cost(double a, double b) { return 1 / (1 / a + 1 / b); }

/// Whether a trial leaves out evaluations, because they say little until the engine is ready.
bool is_waiting(const Ledger::Option& option, double now);

/// Says what to do about rules, by what is known of them alone: about those on proof, about the
/// given ones (serials, each once), and about those that could go to a device together with them.
/// `now` is in the unit of the ledger's times. The ledger is to be told of what is done
/// (`Ledger::carry_out`).
std::vector<Directive> decide(const Ledger& ledger, std::span<const std::uint64_t> rules,
                              double now);

}  // namespace gorgo::dispatch

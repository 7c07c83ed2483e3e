#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dispatch/placement/ledger.hpp"

namespace gorgo::dispatch {

/// Whether a trial leaves out evaluations, because they say little until the engine is ready.
bool is_waiting(const Ledger::Option& option, double now);

/// Says what to do about rules, by what is known of them alone: about those on proof, about the
/// given ones (serials, each once), and about those that could go to a device together with them.
/// `now` is in the unit of the ledger's times. The ledger is to be told of what is done
/// (`Ledger::carry_out`).
std::vector<Directive> decide(const Ledger& ledger, std::span<const std::uint64_t> rules,
                              double now);

}  // namespace gorgo::dispatch

#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/paging.hpp"
#include "engine/cuda/work.hpp"

namespace gorgo::engine {

/// Uses a device, whose mutex it takes; false when it, or memory, failed. `during` says in words
/// what for.
bool caught(Session& session, const std::function<void()>& use,
            const std::function<std::string()>& during);

/// Works that go through their rounds together, by channel of the device.
using Works = std::vector<std::vector<Work*>>;

/// Does all rounds of the works: those of the first channel when the others, which are at it at the
/// same time, are done. What consumes is on the first: it changes its marks between two rounds.
/// During that one's first round pages come that are needed `next`, if that is not null. False:
/// stopped. Whoever calls holds the session's mutex. Throws DeviceError.
bool run(Session& session, const Works& works, const std::atomic<bool>* stop,
         const Needs* next = nullptr);

/// Terminators of rules, in words.
std::string terminators_text(std::size_t terminators, std::size_t rules, const std::string& first);

}  // namespace gorgo::engine

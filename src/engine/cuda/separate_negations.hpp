#pragma once

#include <cstdint>
#include <span>

#include "engine/cuda/pass_input.hpp"
#include "engine/cuda/search_queue.hpp"
#include "engine/cuda/state_choice.hpp"

namespace gorgo::engine {

/// The negations that candidates of a state are tested by after they were found, in searches of
/// their own: for each candidate, for an event that violates one.
class SeparateNegations final : public SearchOwner {
 public:
  /// Both must outlive this.
  SeparateNegations(const PassInput& input, StateChoice& choice) : input_(input), choice_(choice) {}

  /// Asks whether the candidates in hand violate a negation, unless that was tested inside.
  void request(SearchQueue& queue);

  std::span<const history::EventRef> sequence_of(const QueuedSearch& search) override {
    return choice_.sequence_of(choice_.candidates()[search.subject]);
  }
  void take_offsets(const QueuedSearch& search, std::span<const std::uint32_t> offsets) override {
    if (!offsets.empty()) choice_.reject(search.subject);
  }

 private:
  const PassInput& input_;
  StateChoice& choice_;
};

}  // namespace gorgo::engine

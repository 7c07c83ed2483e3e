#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/layout.hpp"
#include "engine/cuda/consumed_marks.hpp"
#include "engine/cuda/mirror.hpp"
#include "engine/cuda/program.hpp"
#include "history/history.hpp"
#include "history/range.hpp"

namespace gorgo::engine {

/// A scan of a plan on a device: how its column is searched there.
struct DeviceScan {
  const plan::Scan* scan = nullptr;
  Program program;
  std::shared_ptr<history::Column> column;  // keeps the timeline up to date
  std::shared_ptr<const history::Timeline> timeline;
  std::shared_ptr<Mirror> mirror;
  std::shared_ptr<ConsumedMarks> consumed;  ///< null unless it is of a state that is consumed
  std::vector<MirroredField*> fields;       ///< of the mirror, by field of the program
  bool reduced_floats = false;
  std::uint32_t shape = 0;  ///< for `gpu::Scan::shape`, while all cells exist
  /// A state's negations as they are tested with its choice; empty if they cannot be.
  std::vector<DeviceScan> negations;
  std::uint32_t shape_with_negations = 0;  ///< the shape where these are tested

  /// The ways in which it can stand in a round.
  enum Variant : std::uint8_t {
    shaped,
    any_shape,   ///< a cell does not exist, which shapes do not expect
    disordered,  ///< compares roots, too, which shapes do not do
    with_negations,
    any_shape_with_negations
  };
  struct Placed {
    std::uint64_t round = 0;
    std::uint32_t scan = 0;
  };
  Placed placed[5];
  std::uint64_t synchronised = 0;  ///< in which round
  PageRange needed[2];             ///< in that round, with roots and without
  history::Range near;             ///< what was looked for last: the next is mostly close to it

  history::EventRef event(std::uint64_t position) const {
    return {&column->store(), timeline->slot(position)};
  }
  /// Precondition: it is on a device.
  MirroredField& roots() const { return mirror->add({.kind = Field::Kind::root}); }
};

/// A negation that is tested with the choice of a candidate.
struct InsideNegation {
  DeviceScan* scan;
  history::Range range;  ///< of its timeline: what may lie in its interval, whatever the candidate
  gpu::NegationInterval ends;  ///< the interval, unless it is all of the range
  std::uint64_t longest;       ///< about so many of the range lie in an interval at most
};

}  // namespace gorgo::engine

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda/device.hpp"
#include "engine/cuda/mirror.hpp"
#include "engine/cuda/program.hpp"
#include "history/evaluate.hpp"
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
  std::vector<std::uint32_t> attributes;  ///< numbers in the mirror, by attribute of the program
  bool reduced_floats = false;

  /// Where it stands in a round; the second one compares places, too.
  struct Placed {
    std::uint64_t round = 0;
    std::uint32_t scan = 0;
  };
  Placed placed[2];

  history::EventRef event(std::uint64_t position) const {
    return {&column->store(), timeline->slot(position)};
  }
};

/// Where a search's answer is: among those of its kind, and among the selected offsets.
struct AnswerAt {
  std::uint32_t search;
  std::uint32_t output;
};

/// Writes a round. Its searches need the session's mutex, from `begin` until the answers are read.
class RoundWriter {
 public:
  explicit RoundWriter(Session& session) : session_(session) {}

  void begin();
  const cuda::Round& round() const { return round_; }

  /// Adds a search in a range of the scan's timeline for a (partial) sequence, whose terminator is
  /// its first event. `in_order`: every event of the range stands before the terminator. Returns
  /// where its answer will be; nothing when it would find nothing. `limit` is that of oldest and
  /// newest. Throws DeviceError.
  std::optional<AnswerAt> add(DeviceScan& scan, history::Range range,
                              std::span<const history::EventRef> sequence, bool in_order,
                              cuda::Want want, std::uint32_t limit);
  /// Lets the searches for every position find so many more in all.
  void allow(std::uint64_t positions) { round_.most_listed += positions; }

 private:
  bool add_bounds(const DeviceScan& scan, const history::Scope& scope);
  bool add_cells(const DeviceScan& scan, const history::Scope& scope);
  cuda::Bounds bounds_of(const cuda::Test& test, const plan::Comparison& comparison,
                         const Datum& value) const;
  std::uint32_t place(DeviceScan& scan, bool in_order);
  cuda::Cell cell_of(const Datum& value) const;

  Session& session_;
  cuda::Round round_;
};

}  // namespace gorgo::engine

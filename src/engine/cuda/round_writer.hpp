#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cuda/device.hpp"
#include "engine/cuda/device_context.hpp"
#include "engine/cuda/device_scan.hpp"
#include "engine/cuda/operand_writer.hpp"
#include "history/evaluate.hpp"
#include "history/range.hpp"

namespace gorgo::engine {

/// Where a search's answer is: among those of its kind, and among the selected offsets.
struct AnswerAt {
  std::uint32_t search;
  std::uint32_t output;
};

/// Writes rounds of a channel. Their searches need the context's mutex, from `begin` until the
/// answers are read.
class RoundWriter {
 public:
  enum class Use {
    exclusive,  ///< has the rounds of the pool to itself: what its searches need comes with them
    /// Others, for plans that do not share their scans, may be at work on other threads: what all
    /// of them need has taken part in the pool's round before, and nothing changes.
    shared
  };
  RoundWriter(DeviceContext& context, Use use)
      : context_(context), use_(use), operands_(context.codes(), round_) {}
  RoundWriter(const RoundWriter&) = delete;
  RoundWriter& operator=(const RoundWriter&) = delete;

  void begin();
  /// Returns the round as it goes to the device. Begins to fetch its pages. Throws DeviceError.
  const gpu::Round& finish();

  /// Adds a search in a range of the scan's timeline for a (partial) sequence, whose terminator is
  /// its first event. `in_order`: every event of the range stands before the terminator. Returns
  /// where its answer will be, or nothing when it would find nothing. `limit` is that of oldest and
  /// newest. `negations` are none or those of the scan; there may be some only with `in_order`.
  /// Throws DeviceError.
  std::optional<AnswerAt> add(DeviceScan& scan, history::Range range,
                              std::span<const history::EventRef> sequence, bool in_order,
                              gpu::Want want, std::uint32_t limit,
                              std::span<const InsideNegation> negations = {});
  /// Whether searches that are known to find so many positions may be added. The first one always
  /// may.
  bool has_room(std::uint64_t positions) const {
    return known_ == 0 || known_ + positions <= most_listed();
  }
  /// Adds to what `has_room` counts.
  void expect(std::uint64_t positions) {
    known_ += positions;
    round_.most_listed = std::max(known_, most_listed());
  }

 private:
  /// How many positions all searches of a round may find, unless a single one finds more.
  std::uint64_t most_listed() const {
    constexpr std::uint64_t kMostAlone = 1 << 22, kMostOfSeveral = 1 << 20;
    return use_ == Use::exclusive ? kMostAlone : kMostOfSeveral;
  }
  std::optional<OperandWriter::Operands> add_operands(DeviceScan& scan, const history::Range& range,
                                                      const history::Scope& scope, bool in_order);
  void add_negation(const InsideNegation& negation, const history::Scope& scope);
  void need(DeviceScan& scan, const history::Range& range, bool in_order);
  bool has(const DeviceScan& scan, const history::Range& range) const;
  gpu::Attribute place_field(const MirroredField& field);
  std::uint32_t place(DeviceScan& scan, DeviceScan::Variant variant);

  /// A field whose page table is written when all searches have said what they need.
  struct Table {
    const MirroredField* field;
    gpu::Attribute placed;
  };

  DeviceContext& context_;
  const Use use_;
  std::uint64_t number_ = 0;  // of the round, which no other has
  gpu::Round round_;
  OperandWriter operands_;
  std::vector<Table> tables_;
  std::uint64_t known_ = 0;
};

}  // namespace gorgo::engine

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/cuda/mirror.hpp"
#include "engine/rule_state.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

/// What a rule consumed in one of its states, on a device: marks by which a search leaves out what
/// was consumed before its terminator. A mark is the slot of the terminator that consumed the
/// event; so a later terminator's consumption hides nothing from an earlier one. The rule's state
/// is the truth; marks follow it, and what is expected to become true.
class ConsumedMarks {
 public:
  /// The caller holds the context's mutex; the destructor takes it.
  ConsumedMarks(std::shared_ptr<DeviceContext> context, std::shared_ptr<Mirror> mirror,
                const history::EventStore& store,
                std::shared_ptr<const history::Timeline> timeline);
  ~ConsumedMarks();
  ConsumedMarks(const ConsumedMarks&) = delete;
  ConsumedMarks& operator=(const ConsumedMarks&) = delete;

  /// The marks in the mirror.
  MirroredField& field() const { return marks_; }

  /// Says what the next rounds are to see: what was consumed, and what the batch in hand is
  /// expected to consume. Both must stay while there are rounds.
  void follow(const ConsumedSlots& consumed, const ConsumedSlots& expected) {
    consumed_ = &consumed;
    expected_ = &expected;
  }
  /// Says that an event was consumed, or that what is expected of it has changed.
  void changed(history::Slot slot) { changed_.push_back(slot); }
  /// Says that any event may have been consumed.
  void all_changed() { all_changed_ = true; }
  /// Uploads the marks that differ on the device. Precondition: the mirror is in step with its
  /// timeline, in this round. Throws DeviceError.
  void sync();

 private:
  std::uint64_t word(history::Slot slot) const;
  std::optional<std::uint64_t> position(history::Slot slot) const;

  std::shared_ptr<DeviceContext> context_;
  std::shared_ptr<Mirror> mirror_;
  const history::EventStore& store_;
  std::shared_ptr<const history::Timeline> timeline_;
  MirroredMarks& marks_;
  const ConsumedSlots* consumed_ = nullptr;
  const ConsumedSlots* expected_ = nullptr;
  std::vector<history::Slot> changed_;
  bool all_changed_ = true;
};

}  // namespace gorgo::engine

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cuda/device_context.hpp"
#include "engine/cuda/field.hpp"
#include "engine/cuda/mirror_context.hpp"
#include "engine/cuda/mirrored_field.hpp"
#include "engine/cuda/mirrored_marks.hpp"
#include "history/range.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

/// A timeline's fields on a device. Positions are those of the timeline. Whoever calls holds the
/// context's mutex, which the destructor takes itself.
class Mirror : public std::enable_shared_from_this<Mirror> {
 public:
  Mirror(std::shared_ptr<DeviceContext> context, const history::EventStore& store,
         std::shared_ptr<const history::Timeline> timeline);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// Mirrors a field, once for all who ask for it. A new one begins with what the timeline holds
  /// now, so this takes notice of its changes as `sync` does. The timeline has materialised the
  /// field if it is an attribute. Precondition: the field is no `consumer`.
  MirroredField& add(const Field& field);
  /// Adds marks, which belong to the caller until it removes them.
  MirroredMarks& add_marks();
  void remove(const MirroredMarks& marks);

  /// Takes notice of what is new in the timeline and gone from it. Call it before anything below,
  /// and before the fields are used, when the timeline may have changed.
  void sync();
  /// The position behind the last mirrored one.
  std::uint64_t end() const { return positions_.end(); }
  /// The pages of positions that the timeline holds.
  PageRange pages_of(const history::Range& positions) const {
    return positions_.pages_of(positions);
  }

  const history::Timeline& timeline() const { return *timeline_; }
  /// Gives every page back.
  void evict();

 private:
  void drop_before(std::uint64_t position);
  void drop_from(std::uint64_t position);
  std::unique_ptr<MirroredField> make(const Field& field) const;

  std::shared_ptr<DeviceContext> context_;
  std::shared_ptr<const history::Timeline> timeline_;
  MirroredPositions positions_;
  PageSchedule schedule_;
  std::vector<std::uint64_t> scratch_;
  const MirrorContext shared_;
  std::vector<std::unique_ptr<MirroredField>> fields_;
};

}  // namespace gorgo::engine

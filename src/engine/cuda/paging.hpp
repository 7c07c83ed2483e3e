#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/cuda/device_plan.hpp"
#include "engine/cuda/mirrored_field.hpp"
#include "engine/engine.hpp"

namespace gorgo::engine {

/// Pages of a field that searches may look at.
struct FieldPages {
  MirroredField* field;
  PageRange pages;
};

/// What a plan's searches can reach for these terminators, whatever they find on their way. Has the
/// plan's mirrors take notice of what is new. Whoever calls holds the context's mutex.
std::vector<FieldPages> reachable_pages(DevicePlan& plan, const Terminators& terminators);

/// Whether the plan's searches can reach a string whose text is too long for a device. Has the
/// mirrors of texts take notice of what is new. Whoever calls holds the context's mutex.
bool reaches_long_text(DevicePlan& plan, const Terminators& terminators);

/// What several tasks need. What they have in common counts once.
class WorkingSet {
 public:
  void add(std::span<const FieldPages> needs);
  /// How many pages of the arena they take, alone and with further needs.
  std::size_t pages() const { return pages_; }
  std::size_t pages_with(std::span<const FieldPages> needs) const;
  std::span<const FieldPages> all() const { return all_; }

 private:
  const FieldPages* find(const FieldPages& need) const;

  std::vector<FieldPages> all_;
  std::map<const MirroredField*, std::size_t> index_;  // in all_
  std::size_t pages_ = 0;
};

/// What a task needs.
struct Demand {
  std::vector<FieldPages> needs = {};
  bool is_exclusive = false;  ///< nothing else may be under way on the device meanwhile
};

/// Tasks of one device that are done together, in one step of its context.
struct Step {
  std::vector<std::size_t> tasks = {};  ///< by number
  WorkingSet working_set = {};
  bool is_exclusive = false;  ///< as for Demand, of all its tasks
};

struct Steps {
  std::vector<Step> steps;
  std::vector<std::size_t> too_large;  ///< tasks that need more than the device has
};

/// An upper bound of the pages that a plan can need, whatever its terminators are.
std::size_t most_pages(const DevicePlan& plan, const DeviceContext& context);
/// Puts so many tasks into one step, which has the device to itself. Precondition: there is
/// room for all that they can need.
Steps exclusive_step(std::size_t tasks);

/// Puts tasks into steps by what they need: into one step of each kind if everything fits.
/// Otherwise a step takes at most a quarter of the device's pages, or one task, so that there
/// is room for two steps and for what may stay; what was used last comes first, since it is still
/// there. Tells the mirrors which steps need their pages.
Steps plan_steps(DeviceContext& context, std::span<const Demand> demands);

/// Makes room for all that the step in hand needs and has not, as far as there can be.
void make_room(DeviceContext& context, const WorkingSet& needs);
/// Makes room for all that the step behind the one in hand needs and has not. Returns false when
/// there is not enough beside the rounds that are under way.
bool make_room_for_next(DeviceContext& context, const WorkingSet& next);

/// Begins to fetch what a step needs and has not, as far as what this step needs can stay. Throws
/// DeviceError.
void prefetch(DeviceContext& context, const WorkingSet& next);

}  // namespace gorgo::engine

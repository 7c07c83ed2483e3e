#include "engine/cuda/paging.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/arithmetic.hpp"

namespace gorgo::engine {
namespace {

/// So many steps fit into the device's memory if not everything does.
constexpr std::size_t kStepsThatFit = 4;

std::size_t pages_of(const FieldPages& need) { return need.field->frames(need.pages); }

PageRange hull(const PageRange& a, const PageRange& b) {
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

/// The first and the last time of terminators. Times are ascending if terminators are in order.
std::pair<Timestamp, Timestamp> times_of(const history::EventStore& store,
                                         const Terminators& terminators) {
  const auto time = [&](history::Slot slot) { return store.timestamp(slot); };
  if (terminators.in_order()) {
    return {time(terminators.slots.front()), time(terminators.slots.back())};
  }
  const auto [first, last] = std::ranges::minmax_element(terminators.slots, {}, time);
  return {time(*first), time(*last)};
}

history::Range reach_of(const DeviceScan& scan, const plan::Plan& plan, Timestamp first,
                        Timestamp last) {
  const auto known = plan.reach.find(scan.scan->column.type);
  const Duration reach =
      known == plan.reach.end() ? std::numeric_limits<Duration>::max() : known->second;
  using arithmetic::saturating_add, arithmetic::saturating_subtract;
  return scan.timeline->window(saturating_subtract(saturating_subtract(first, reach), 1),
                               saturating_add(last, 1));
}

std::uint64_t used_in(std::span<const FieldPages> needs) {
  std::uint64_t round = 0;
  for (const FieldPages& need : needs) round = std::max(round, need.field->schedule().used_in());
  return round;
}

}  // namespace

std::vector<FieldPages> reachable_pages(DevicePlan& plan, const Terminators& terminators) {
  std::vector<FieldPages> needs;
  const auto [first, last] = times_of(*plan.terminators, terminators);
  for_each_scan(plan, [&, first = first, last = last](DeviceScan& scan) {
    scan.mirror->sync();
    const history::Range range = reach_of(scan, *plan.plan, first, last);
    if (range.empty()) return;
    const PageRange pages = scan.mirror->pages_of(range);
    for (MirroredField* const field : scan.fields) needs.push_back({field, pages});
    if (!terminators.in_order()) needs.push_back({&scan.roots(), pages});
  });
  return needs;
}

bool reaches_long_text(DevicePlan& plan, const Terminators& terminators) {
  bool any = false;
  for_each_scan(plan, [&](DeviceScan& scan) {
    const auto is_text = [](const Field& field) { return field.kind == Field::Kind::text; };
    if (any || std::ranges::none_of(scan.program.fields, is_text)) return;
    scan.mirror->sync();
    const auto [first, last] = times_of(*plan.terminators, terminators);
    const history::Range range = reach_of(scan, *plan.plan, first, last);
    any = std::ranges::any_of(
        scan.fields, [&](const MirroredField* field) { return field->has_too_long(range); });
  });
  return any;
}

const FieldPages* WorkingSet::find(const FieldPages& need) const {
  const auto known = index_.find(need.field);
  return known == index_.end() ? nullptr : &all_[known->second];
}

void WorkingSet::add(std::span<const FieldPages> needs) {
  for (const FieldPages& need : needs) {
    const auto [known, is_new] = index_.try_emplace(need.field, all_.size());
    if (is_new) {
      all_.push_back(need);
      pages_ += pages_of(need);
    } else {
      FieldPages& all = all_[known->second];
      pages_ -= pages_of(all);
      all.pages = hull(all.pages, need.pages);
      pages_ += pages_of(all);
    }
  }
}

std::size_t WorkingSet::pages_with(std::span<const FieldPages> needs) const {
  WorkingSet more;
  for (const FieldPages& need : needs) {
    if (const FieldPages* const known = find(need)) more.add({known, 1});
  }
  const std::size_t shared = more.pages();
  more.add(needs);
  return pages_ - shared + more.pages();
}

namespace {

std::size_t pages_of(std::span<const Demand> demands) {
  WorkingSet all;
  for (const Demand& demand : demands) all.add(demand.needs);
  return all.pages();
}

/// Cuts tasks, in this order, into steps of one kind that fit into so many pages.
void cut(std::span<const Demand> demands, std::span<const std::size_t> order, std::size_t pages,
         Steps& to) {
  for (const std::size_t i : order) {
    const auto joins = [&](const Step& step) {
      return step.is_exclusive == demands[i].is_exclusive &&
             step.working_set.pages_with(demands[i].needs) <= pages;
    };
    if (to.steps.empty() || !joins(to.steps.back())) {
      to.steps.emplace_back().is_exclusive = demands[i].is_exclusive;
    }
    to.steps.back().tasks.push_back(i);
    to.steps.back().working_set.add(demands[i].needs);
  }
}

/// Puts those used last first, and those of the first one's kind before the others.
void sort(std::span<const Demand> demands, std::vector<std::size_t>& order) {
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t i) { return used_in(demands[i].needs); });
  std::stable_partition(order.begin(), order.end(), [&, first = order.front()](std::size_t i) {
    return demands[i].is_exclusive == demands[first].is_exclusive;
  });
}

}  // namespace

std::size_t most_pages(const DevicePlan& plan, const DeviceContext& context) {
  std::size_t pages = 0;
  for_each_scan(plan, [&](const DeviceScan& scan) {
    const std::uint64_t events = scan.timeline->end() - scan.timeline->begin();
    std::size_t frames = 1;  // for the roots
    for (const MirroredField* const field : scan.fields) frames += field->most_frames();
    pages += frames * ((events >> context.page_shift()) + 2);
  });
  return pages;
}

Steps exclusive_step(std::size_t tasks) {
  Step step{.is_exclusive = true};
  step.tasks.resize(tasks);
  std::iota(step.tasks.begin(), step.tasks.end(), 0);
  Steps steps;
  steps.steps.push_back(std::move(step));
  return steps;
}

Steps plan_steps(DeviceContext& context, std::span<const Demand> demands) {
  const std::size_t pages = context.device().pages();
  Steps planned;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const bool is_too_large = pages_of(demands.subspan(i, 1)) > pages;
    (is_too_large ? planned.too_large : order).push_back(i);
  }
  if (order.empty()) return planned;
  const bool fits = pages_of(demands) <= pages;
  sort(demands, order);
  cut(demands, order, fits ? pages : pages / kStepsThatFit, planned);
  for (std::size_t i = 0; i < planned.steps.size(); ++i) {
    for (const FieldPages& need : planned.steps[i].working_set.all()) {
      need.field->schedule().expect(context.pages().step() + 1 + i, need.pages);
    }
  }
  return planned;
}

namespace {

std::size_t absent_of(const WorkingSet& needs) {
  std::size_t absent = 0;
  for (const FieldPages& need : needs.all()) absent += need.field->absent(need.pages);
  return absent;
}

}  // namespace

void make_room(DeviceContext& context, const WorkingSet& needs) {
  context.pages().make_room_until(context.pages().step(), absent_of(needs));
}

bool make_room_for_next(DeviceContext& context, const WorkingSet& next) {
  return context.pages().make_room_beyond(context.pages().step() + 1, absent_of(next));
}

void prefetch(DeviceContext& context, const WorkingSet& next) {
  std::size_t missing = 0;
  for (const FieldPages& need : next.all()) {
    missing += need.field->missing(need.pages);
  }
  std::size_t room = context.pages().make_room_until(context.pages().step() + 1, missing);
  for (const FieldPages& need : next.all()) {
    room -= need.field->prefetch(need.pages, room);
  }
  context.pages().fetch();
}

}  // namespace gorgo::engine

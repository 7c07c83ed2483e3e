#include "engine/cuda/mirror.hpp"

#include <algorithm>
#include <utility>

#include "engine/cuda/mirrored_codes.hpp"
#include "engine/cuda/mirrored_texts.hpp"
#include "engine/cuda/mirrored_values.hpp"

namespace gorgo::engine {

Mirror::Mirror(std::shared_ptr<DeviceContext> context, const history::EventStore& store,
               std::shared_ptr<const history::Timeline> timeline)
    : context_(std::move(context)),
      timeline_(std::move(timeline)),
      positions_(context_->page_shift()),
      schedule_(context_->pages()),
      shared_{.device = context_->device(),
              .pool = context_->pages(),
              .codes = context_->codes(),
              .store = store,
              .timeline = *timeline_,
              .positions = positions_,
              .schedule = schedule_,
              .scratch = scratch_} {}

Mirror::~Mirror() {
  const std::lock_guard lock(context_->mutex());
  fields_.clear();
  context_->forget(*this);
}

MirroredField& Mirror::add(const Field& field) {
  const auto is_field = [&](const auto& known) { return known->field() == field; };
  const auto known = std::ranges::find_if(fields_, is_field);
  if (known != fields_.end()) return **known;
  sync();
  return *fields_.emplace_back(make(field));
}

std::unique_ptr<MirroredField> Mirror::make(const Field& field) const {
  switch (field.kind) {
    case Field::Kind::text:
      return std::make_unique<MirroredTexts>(shared_, field);
    case Field::Kind::timestamp:
      return std::make_unique<MirroredTimestamps>(shared_);
    case Field::Kind::root:
      return std::make_unique<MirroredRoots>(shared_);
    case Field::Kind::value:
    case Field::Kind::consumer:
      break;
  }
  if (shared_.store.attribute_type(field.attribute) == ValueType::string) {
    return std::make_unique<MirroredCodes>(shared_, field);
  }
  return std::make_unique<MirroredValues>(shared_, field);
}

MirroredMarks& Mirror::add_marks() {
  auto marks = std::make_unique<MirroredMarks>(shared_);
  MirroredMarks& added = *marks;
  fields_.push_back(std::move(marks));
  return added;
}

void Mirror::remove(const MirroredMarks& marks) {
  std::erase_if(fields_, [&](const auto& field) { return field.get() == &marks; });
}

void Mirror::sync() {
  const std::uint64_t begin = timeline_->begin();
  if (positions_.empty() || end() <= begin) {
    drop_from(positions_.first());
    positions_.begin_at(begin);
  }
  drop_before(begin);
  drop_from(positions_.first_difference(*timeline_));
  if (end() == timeline_->end()) return;
  positions_.append_from(*timeline_);
  for (const auto& field : fields_) field->extend();
}

void Mirror::drop_before(std::uint64_t position) {
  if (positions_.first() >= position) return;
  for (const auto& field : fields_) field->drop_before(position);
  positions_.drop_before(position);
}

void Mirror::drop_from(std::uint64_t position) {
  if (position == end()) return;
  positions_.drop_from(position);
  for (const auto& field : fields_) field->drop_from(position);
}

void Mirror::evict() {
  for (const auto& field : fields_) field->evict();
}

}  // namespace gorgo::engine

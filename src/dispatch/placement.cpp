#include "dispatch/placement.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::dispatch {

void Cost::add(std::uint64_t terminators, double nanoseconds) {
  constexpr double kMemory = 20e6;  // nanoseconds of work
  if (terminators == 0) return;
  if (nanoseconds_ > kMemory) {
    terminators_ /= 2;
    nanoseconds_ /= 2;
  }
  terminators_ += static_cast<double>(terminators);
  nanoseconds_ += nanoseconds;
}

Post& Placement::at(const engine::Engine& engine) {
  const auto known =
      std::ranges::find_if(posts_, [&](const Post& post) { return post.engine == &engine; });
  if (known != posts_.end()) return *known;
  posts_.reserve(engine::engines().size());
  posts_.push_back({.engine = &engine, .evaluators = {}, .estimate = {}, .cost = {}});
  return posts_.back();
}

Places Placement::places_for(std::size_t terminators) {
  constexpr double kShare = 0.1;  // of the new value
  const auto count = static_cast<double>(terminators);
  batch_ += kShare * (count - batch_);
  since_few_ = terminators < few_ ? 0 : since_few_ + 1;
  if (terminators < few_) return {.post = &posts_[reserve_], .own = terminators};
  const auto shared = static_cast<std::size_t>(share_ * count);
  if (shared == 0) return {.post = &posts_[current_], .own = terminators};
  return {&posts_[current_], terminators - shared, &posts_[reserve_]};
}

void Placement::move_to(const engine::Engine& engine, std::string reason) {
  const Post& post = at(engine);
  const auto next = static_cast<std::uint32_t>(&post - posts_.data());
  if (next != current_) ++moves_;
  current_ = next;
  few_ = 0;
  since_few_ = 0;
  share_ = 0;
  reason_ = std::move(reason);
}

void Placement::leave_few_to(const engine::Engine& engine, std::size_t few) {
  reserve_ = static_cast<std::uint32_t>(&at(engine) - posts_.data());
  few_ = few;
}

void Placement::share_with(const engine::Engine& engine, double share) {
  reserve_ = static_cast<std::uint32_t>(&at(engine) - posts_.data());
  share_ = share;
}

void Placement::withdraw_others() {
  for (std::size_t i = 0; i < posts_.size(); ++i) {
    const bool is_reserve = i == reserve_ && (few_ > 0 || share_ > 0);
    if (i != current_ && !is_reserve) posts_[i].evaluators.clear();
  }
}

std::size_t Placement::bytes() const {
  std::size_t total = 0;
  for (const Post& post : posts_) {
    for (const auto& evaluator : post.evaluators) total += evaluator->bytes();
  }
  return total;
}

}  // namespace gorgo::dispatch

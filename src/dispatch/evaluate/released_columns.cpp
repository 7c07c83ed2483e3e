#include "dispatch/evaluate/released_columns.hpp"

#include <algorithm>
#include <limits>

namespace gorgo::dispatch {
bool ReleasedColumns::fits(const TableCells& from) const {
  if (builders_.size() != from.size()) return false;
  for (std::size_t i = 0; i < builders_.size(); ++i) {
    if (builders_[i].type() != from.type(i)) return false;
  }
  return true;
}

bool ReleasedColumns::reserve(const TableCells& from, std::uint32_t first, std::uint32_t events) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!fits(from)) {
    if (events_ > 0) return false;
    builders_.clear();
    most_ = 0;
    for (std::size_t i = 0; i < from.size(); ++i) builders_.emplace_back(from.type(i));
  }
  if (events_ + std::size_t{events} > kMost) return false;
  for (std::size_t i = 0; i < builders_.size(); ++i) {
    const std::size_t bytes = from.text_bytes(i, first, events);
    if (builders_[i].view({}).bytes.size() + bytes > kMost) return false;
    builders_[i].reserve(events, bytes);
  }
  most_ = std::max(most_, events_ + events);
  return true;
}

void ReleasedColumns::add(const TableCells& from, std::uint32_t first, std::uint32_t events) {
  for (std::size_t i = 0; i < builders_.size(); ++i) from.push(i, first, events, builders_[i]);
  events_ += events;
  is_open_ = false;
}

void ReleasedColumns::view() {
  views_.clear();
  for (const ColumnBuilder& builder : builders_) views_.push_back(builder.view({}));
}

void ReleasedColumns::clear() {
  for (ColumnBuilder& builder : builders_) builder.clear();
  views_.clear();
  events_ = 0;
}

void ReleasedColumns::shrink() {
  constexpr std::size_t kLittle = 1024;
  if (most_ > kLittle) builders_.clear();
}

}  // namespace gorgo::dispatch

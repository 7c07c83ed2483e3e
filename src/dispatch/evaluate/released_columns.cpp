#include "dispatch/evaluate/released_columns.hpp"

#include <algorithm>
#include <limits>

namespace gorgo::dispatch {
namespace {

std::size_t bytes_of_texts(const EventColumn& column, std::uint32_t first, std::uint32_t events) {
  if (column.type != ValueType::string) return 0;
  return column.begin_of(first + events) - column.begin_of(first);
}

}  // namespace

std::size_t text_bytes(const EventTable& table, std::uint32_t first, std::uint32_t events) {
  std::size_t bytes = 0;
  for (const EventColumn& column : table.columns) bytes += bytes_of_texts(column, first, events);
  return bytes;
}

bool ReleasedColumns::fits(const OrderedColumns& from) const {
  if (builders_.size() != from.size()) return false;
  for (std::size_t i = 0; i < builders_.size(); ++i) {
    if (builders_[i].type() != from[i].type) return false;
  }
  return true;
}

bool ReleasedColumns::reserve(const OrderedColumns& from, std::uint32_t first,
                              std::uint32_t events) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!fits(from)) {
    if (events_ > 0) return false;
    builders_.clear();
    most_ = 0;
    for (std::size_t i = 0; i < from.size(); ++i) builders_.emplace_back(from[i].type);
  }
  if (events_ + std::size_t{events} > kMost) return false;
  for (std::size_t i = 0; i < builders_.size(); ++i) {
    const std::size_t bytes = bytes_of_texts(from[i], first, events);
    if (builders_[i].view({}).bytes.size() + bytes > kMost) return false;
    builders_[i].reserve(events, bytes);
  }
  most_ = std::max(most_, events_ + events);
  return true;
}

void ReleasedColumns::add(const OrderedColumns& from, std::uint32_t first, std::uint32_t events) {
  for (std::size_t i = 0; i < builders_.size(); ++i) builders_[i].push(from[i], first, events);
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

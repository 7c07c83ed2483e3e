#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace gorgo {

/// Counts values in buckets whose width is at most 1/64 of their values, so that quantiles are
/// right to within 1.6 % (log-linear buckets, as Tene's HdrHistogram has them). Memory is at most
/// 30 KiB, however many values there are. Thread-safety: one thread at a time.
class LogHistogram {
 public:
  void add(std::uint64_t value, std::uint64_t times = 1) {
    const std::size_t bucket = bucket_of(value);
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    counts_[bucket] += times;
    count_ += times;
    most_ = std::max(most_, value);
    sum_ += static_cast<double>(value) * static_cast<double>(times);
  }

  void merge(const LogHistogram& other) {
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    most_ = std::max(most_, other.most_);
    sum_ += other.sum_;
  }

  /// Leaves what was added since `before` was copied from this, except that `most` stays.
  void subtract(const LogHistogram& before) {
    for (std::size_t i = 0; i < before.counts_.size(); ++i) counts_[i] -= before.counts_[i];
    count_ -= before.count_;
    sum_ -= before.sum_;
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t most() const { return most_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  /// The greatest value of the bucket below or in which this part of the values lies; 0 without
  /// values. `part`: from 0 to 1.
  std::uint64_t quantile(double part) const {
    const double wanted = std::max(1.0, part * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (static_cast<double>(seen) >= wanted) return std::min(most_, greatest_of(i));
    }
    return most_;
  }

  /// Calls `f(greatest, count)` for each bucket that has values: the greatest value that would be
  /// counted there, ascending.
  template <class F>
  void for_each_bucket(F&& f) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0) f(greatest_of(i), counts_[i]);
    }
  }

 private:
  static constexpr unsigned kBits = 6;  // a bucket is 1/64 of a power of two, at most
  static constexpr std::uint64_t kExact = std::uint64_t{2}
                                          << kBits;  // below, each value has its own

  static std::size_t bucket_of(std::uint64_t value) {
    if (value < kExact) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - kBits - 1;
    return (static_cast<std::size_t>(shift) << kBits) + (value >> shift);
  }
  static std::uint64_t greatest_of(std::size_t bucket) {
    if (bucket < kExact) return bucket;
    const std::size_t shift = (bucket >> kBits) - 1;
    const std::uint64_t first = bucket - (shift << kBits);
    return ((first + 1) << shift) - 1;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0, most_ = 0;
  double sum_ = 0;
};

}  // namespace gorgo

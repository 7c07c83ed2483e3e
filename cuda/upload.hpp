#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "cuda/delta.hpp"
#include "cuda/inline_upload.hpp"
#include "cuda/memory.hpp"

namespace gorgo::gpu {

/// What goes to a GPU: words for the arena, written at any time, and the arrays of a round. Both
/// are staged in memory of the host that the device reads, and sent together: by a kernel of their
/// own, or inline, as an argument of fused launches.
class Upload {
 public:
  /// `arena`: of so many pages of 2^page_shift words. Throws DeviceError.
  Upload(std::uint64_t* arena, std::uint32_t page_shift, std::uint32_t pages);

  const Delta& delta() const { return delta_; }
  /// Precondition: the delta is not full. Throws DeviceError.
  void write(std::uint32_t page, std::uint32_t offset, std::span<const std::uint64_t> words);

  /// Begins the arrays of a round.
  void begin();
  /// Takes an array in; returns its first word.
  template <class T>
  std::size_t add(std::span<const T> items) {
    const std::size_t first = end_;
    // Arrays begin at multiples of 16 bytes.
    end_ += even(words_of<T>(items.size()));
    staging_.reserve(end_, first);
    if (!items.empty()) std::memcpy(staging_.data() + first, items.data(), items.size_bytes());
    return first;
  }
  template <class T>
  std::size_t add(const std::vector<T>& items) {
    return add(std::span<const T>(items));
  }
  /// Takes in an array of so many zeros, which stands in memory of its own; returns its first word
  /// there.
  template <class T>
  std::size_t add_zeros(std::size_t count) {
    const std::size_t first = zeros_;
    zeros_ += even(words_of<T>(count));
    return first;
  }

  /// Sends all of it; the arrays stay until the next `send`. Returns the number of bytes. Throws
  /// DeviceError.
  std::size_t send(cudaStream_t stream);
  /// Takes the place of `send`: writes all of it into the argument of fused launches. Returns false
  /// when it is too much for that.
  bool put_into(InlineUpload& upload);

  /// Forgets what was written: it has been sent, or was lost in a failure.
  void forget() { delta_.clear(); }

  template <class T>
  const T* array(std::size_t word) const {
    return reinterpret_cast<const T*>(upload_.data() + word);
  }
  template <class T>
  T* zeros(std::size_t word) const {
    return reinterpret_cast<T*>((is_inline_ ? clean_ : zeroed_).data() + word);
  }

 private:
  static std::size_t even(std::size_t words) { return (words + 1) / 2 * 2; }
  template <class T>
  static std::size_t words_of(std::size_t count) {
    return (count * sizeof(T) + 7) / 8;
  }

  std::uint64_t* const arena_;
  Delta delta_;
  PinnedArray<std::uint64_t> staging_;
  DeviceArray<std::uint64_t> upload_, zeroed_;
  DeviceArray<std::uint64_t> clean_;  // zeros for fused launches, which leave zeros behind
  bool is_inline_ = false;            // fused launches have the round as an argument
  std::size_t first_ = 0, end_ = 0;   // of the round's arrays
  std::size_t zeros_ = 0;
};

}  // namespace gorgo::gpu

#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace gorgo::dispatch {

/// Memory for parts of what is saved, which is used again when a part is gone: new memory of this
/// size comes from the kernel, which would clear every page of a snapshot on the thread that saves.
/// Any thread.
class SavedBuffers final : public flatbuffers::Allocator {
 public:
  SavedBuffers() { free_.reserve(kMost); }

  std::uint8_t* allocate(std::size_t size) override {
    const std::lock_guard lock(mutex_);
    if (size != size_) free_.clear();
    size_ = size;
    if (free_.empty()) return new std::uint8_t[size];
    std::uint8_t* const again = free_.back().release();
    free_.pop_back();
    return again;
  }

  void deallocate(std::uint8_t* memory, std::size_t size) override {
    std::unique_ptr<std::uint8_t[]> gone(memory);
    const std::lock_guard lock(mutex_);
    if (size == size_ && free_.size() < kMost) free_.push_back(std::move(gone));
  }

 private:
  static constexpr std::size_t kMost = 64;

  std::mutex mutex_;
  std::size_t size_ = 0;  // of those that are free
  std::vector<std::unique_ptr<std::uint8_t[]>> free_;
};

}  // namespace gorgo::dispatch

#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "cuda/device.hpp"

/// Owned memory of a device and memory of the host that it reaches; errors as exceptions.
namespace gorgo::gpu {

/// Throws DeviceError after an error. It is final unless memory is lacking: any other error leaves
/// the context unusable.
inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears an error that is not sticky
  throw DeviceError(std::string(what) + ": " + cudaGetErrorString(error),
                    error != cudaErrorMemoryAllocation);
}

/// Elements on the device. Grows without keeping what it holds.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  /// Precondition: nothing runs that uses it.
  void reserve(std::size_t size) {
    if (size > size_) reserve_exactly(std::max(size, std::size_t{1024}) * 3 / 2);
  }
  void reserve_exactly(std::size_t size) {
    check(cudaFree(std::exchange(data_, nullptr)), "freeing memory of the device");
    size_ = 0;
    check(cudaMalloc(&data_, size * sizeof(T)), "allocating memory of the device");
    size_ = size;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Elements in pinned memory of the host, which the device reads and writes at the same address.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() { cudaFreeHost(data_); }

  T* data() const { return data_; }
  std::size_t capacity() const { return size_; }
  /// Keeps the first `used` elements. Precondition: nothing runs that uses it.
  void reserve(std::size_t size, std::size_t used = 0) {
    if (size > size_) reserve_exactly(std::max(size + size / 2, std::size_t{1024}), used);
  }
  void reserve_exactly(std::size_t size, std::size_t used = 0) {
    T* data = nullptr;
    check(cudaHostAlloc(&data, size * sizeof(T), cudaHostAllocMapped), "allocating pinned memory");
    if (used > 0) std::memcpy(data, data_, used * sizeof(T));
    const cudaError_t freed = cudaFreeHost(std::exchange(data_, data));
    size_ = size;
    check(freed, "freeing pinned memory");
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gorgo::gpu

#pragma once

#include <cstddef>
#include <cstdint>

#include "gorgo/diagnostics.hpp"
#include "protocol/gorgo_generated.h"

namespace gorgo::protocol {

/// What FlatBuffers' verifier cannot know about a batch: every column has an element per row,
/// string ends ascend within their bytes, strings and names are UTF-8, the order names each row
/// once. `frame_size` bounds the bytes that all vectors together may claim: vectors that share
/// bytes would otherwise let a small frame stand for a huge batch. The error names the table and
/// column.
Result<void> check_batch(const wire::Batch& batch, std::size_t frame_size, std::uint32_t max_rows);

/// Whether the elements lie where their type must: the verifier looks at the length only.
template <class T>
bool is_aligned(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr || reinterpret_cast<std::uintptr_t>(vector->Data()) % alignof(T) == 0;
}

/// Rows of all tables together.
std::uint64_t row_count(const wire::Batch& batch);

}  // namespace gorgo::protocol

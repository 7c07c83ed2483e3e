#pragma once

#include <bit>
#include <span>

#include "gorgo/event_batch.hpp"
#include "protocol/gorgo_generated.h"

namespace gorgo::protocol {

/// The numbers of a vector, which must be aligned (`is_aligned`). Empty where there is no vector.
template <class T>
std::span<const T> span_of(const flatbuffers::Vector<T>* vector) {
  static_assert(std::endian::native == std::endian::little, "as FlatBuffers writes it");
  if (vector == nullptr || vector->size() == 0) return {};
  return {reinterpret_cast<const T*>(vector->Data()), vector->size()};
}

/// The events of a batch, which must have passed `check_batch`. The columns refer into it.
EventBatch view_of(const wire::Batch& batch);

/// The batch of a message that publishes or traces; null: it is another one.
const wire::Batch* batch_of(const wire::Message& message);

/// Writes the batch into a message under construction. Call it once for a batch.
flatbuffers::Offset<wire::Batch> pack(flatbuffers::FlatBufferBuilder& builder,
                                      const EventBatch& batch);

}  // namespace gorgo::protocol

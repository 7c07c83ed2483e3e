#pragma once

#include "gorgo/event_batch.hpp"
#include "protocol/gorgo_generated.h"

namespace gorgo::protocol {

/// The events of a batch, which must have passed `check_batch`. The columns refer into it.
EventBatch view_of(const wire::Batch& batch);

/// The batch of a message that publishes or traces; null: it is another one.
const wire::Batch* batch_of(const wire::Message& message);

/// Writes the batch into a message under construction. Call it once for a batch.
flatbuffers::Offset<wire::Batch> pack(flatbuffers::FlatBufferBuilder& builder,
                                      const EventBatch& batch);

}  // namespace gorgo::protocol

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "codec/text.hpp"
#include "protocol/batch.hpp"
#include "protocol/batch_check.hpp"
#include "protocol/frame_cutter.hpp"

namespace {

using namespace gorgo;

flatbuffers::DetachedBuffer encoded(const wire::Batch& batch, std::uint64_t& rows) {
  BatchBuilder collected;
  for (BatchCursor event(protocol::view_of(batch)); !event.done(); event.advance()) {
    collected.add(event.table().type, event.timestamp());
    for (const EventColumn& column : event.table().columns) {
      collected.attribute(column.name, event.value(column));
    }
  }
  rows = collected.events();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::pack(builder, collected.batch()));
  return builder.Release();
}

/// Every row of a batch that passed the check can be read, and what is written from it passes the
/// check too. A name twice in a row breaks the writer's precondition, so such batches are only
/// read.
void check(const wire::Batch& batch, std::size_t frame_size) {
  if (!protocol::check_batch(batch, frame_size, protocol::kDefaultMaxRows)) return;
  std::uint64_t read = 0;
  bool unique = true;
  for (BatchCursor event(protocol::view_of(batch)); !event.done(); event.advance(), ++read) {
    std::vector<std::string_view> names;
    for (const EventColumn& column : event.table().columns) {
      const Datum value = event.value(column);
      if (value.exists()) names.push_back(column.name);
      const bool text = value.tag == Datum::Tag::string;
      if (text && !codec::is_valid_utf8(value.text())) std::abort();
    }
    std::ranges::sort(names);
    unique = unique && std::ranges::adjacent_find(names) == names.end();
  }
  if (read != protocol::row_count(batch)) std::abort();
  if (!unique) return;
  std::uint64_t rows = 0;
  const auto buffer = encoded(batch, rows);
  const auto* copy = flatbuffers::GetRoot<wire::Batch>(buffer.data());
  if (!protocol::check_batch(*copy, buffer.size(), protocol::kDefaultMaxRows)) std::abort();
  if (rows != read || protocol::row_count(*copy) != read) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  protocol::FrameCutter cutter(std::size_t{1} << 20);
  while (size > 0) {
    const auto space = cutter.space();
    const std::size_t taken = std::min(size, space.size());
    std::copy_n(data, taken, space.begin());
    cutter.fill(taken);
    data += taken;
    size -= taken;
    while (true) {
      const auto frame = cutter.next();
      if (!frame) return 0;
      if (!*frame) break;
      const auto message = protocol::open_frame(**frame);
      if (!message) continue;
      if (const auto* publish = (*message)->body_as_Publish()) {
        check(*publish->batch(), (*frame)->size());
      }
      if (const auto* trace = (*message)->body_as_Trace()) {
        check(*trace->batch(), (*frame)->size());
      }
      if (const auto* deliver = (*message)->body_as_Deliver()) {
        check(*deliver->batch(), (*frame)->size());
      }
    }
  }
  return 0;
}

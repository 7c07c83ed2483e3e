#include "server/delivery.hpp"

#include "protocol/batch_writer.hpp"

namespace gorgo::server {
namespace {

constexpr std::size_t kRowsPerFrame = 4096;
constexpr std::size_t kBytesPerFrame = std::size_t{256} << 10;

/// Collects rows for one frame.
class FrameBuilder {
 public:
  FrameBuilder(const OutputBatch& batch, std::size_t subscriptions)
      : batch_(batch), ids_(subscriptions, 0) {}

  void add(const DeliveredRow& delivered) {
    const auto& row = batch_.rows[delivered.row];
    writer_.add(batch_.type_name(row), row.timestamp);
    batch_.for_each_attribute(
        row, [&](std::string_view name, const Datum& value) { writer_.attribute(name, value); });
    roots_.push_back(row.place.root);
    ordinals_.push_back(row.place.ordinal);
    from_.push_back(delivered.from);
  }

  bool empty() const { return roots_.empty(); }
  bool full() const { return roots_.size() >= kRowsPerFrame || writer_.bytes() >= kBytesPerFrame; }

  DeliveryFrame finish() {
    flatbuffers::FlatBufferBuilder builder(writer_.bytes() + 1024);
    const auto batch = writer_.finish(builder);
    const auto ids = builder.CreateVector(ids_);
    const auto from = ids_.size() > 1 ? builder.CreateVector(from_) : 0;
    const auto roots = builder.CreateVector(roots_);
    const auto ordinals = builder.CreateVector(ordinals_);
    builder.ForceDefaults(true);  // `lost` is written later, so it must have its place
    const auto deliver = wire::CreateDeliver(builder, ids, from, roots, ordinals, 0, batch);
    builder.FinishSizePrefixed(
        wire::CreateMessage(builder, 0, wire::Body::Deliver, deliver.Union()),
        wire::MessageIdentifier());
    const auto* bytes = builder.GetBufferPointer();
    return {protocol::Bytes(bytes, bytes + builder.GetSize()), roots_.size()};
  }

 private:
  const OutputBatch& batch_;
  std::vector<std::uint32_t> ids_;
  protocol::BatchWriter writer_;
  std::vector<std::uint64_t> roots_;
  std::vector<std::uint32_t> ordinals_;
  std::vector<std::uint16_t> from_;
};

wire::Deliver& deliver_in(protocol::Bytes& frame) {
  auto* message = flatbuffers::GetMutableRoot<wire::Message>(frame.data() + protocol::kPrefix);
  return *static_cast<wire::Deliver*>(message->mutable_body());
}

std::size_t text_bytes(const OutputBatch& batch, const OutputBatch::Row& row) {
  std::size_t bytes = 0;
  batch.for_each_attribute(
      row, [&](std::string_view name, const Datum& value) { bytes += name.size() + value.length; });
  return bytes;
}

}  // namespace

std::vector<DeliveryFrame> encode_delivery(const OutputBatch& batch,
                                           std::span<const DeliveredRow> rows,
                                           std::size_t subscriptions, std::size_t max_frame,
                                           std::uint64_t& oversize) {
  std::vector<DeliveryFrame> frames;
  std::optional<FrameBuilder> builder;
  const auto flush = [&] {
    if (!builder) return;
    auto frame = builder->finish();
    builder.reset();
    if (frame.bytes.size() <= max_frame) {
      frames.push_back(std::move(frame));
    } else {
      oversize += frame.rows;
    }
  };
  for (const DeliveredRow& row : rows) {
    // A large row gets a frame of its own, so that only it can be too large.
    const bool large = text_bytes(batch, batch.rows[row.row]) >= kBytesPerFrame;
    if (large) flush();
    if (!builder) builder.emplace(batch, subscriptions);
    builder->add(row);
    if (large || builder->full()) flush();
  }
  flush();
  return frames;
}

void address_to(protocol::Bytes& deliver, std::span<const std::uint32_t> subscriptions) {
  auto* ids = deliver_in(deliver).mutable_subscriptions();
  for (flatbuffers::uoffset_t i = 0; i < ids->size(); ++i) ids->Mutate(i, subscriptions[i]);
}

void set_lost(protocol::Bytes& deliver, std::uint64_t rows) {
  deliver_in(deliver).mutate_lost(rows);
}

}  // namespace gorgo::server

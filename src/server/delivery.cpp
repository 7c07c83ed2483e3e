#include "server/delivery.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "protocol/batch.hpp"

namespace gorgo::server {
namespace {

constexpr std::size_t kRowsPerFrame = 4096;
constexpr std::size_t kBytesPerFrame = std::size_t{256} << 10;
// Bytes that a frame has besides its rows, and a column besides its name and its value.
constexpr std::size_t kFrameOverhead = 512;
constexpr std::size_t kColumnOverhead = 160;

protocol::Bytes finish_message(flatbuffers::FlatBufferBuilder& builder,
                               flatbuffers::Offset<wire::Deliver> deliver) {
  builder.FinishSizePrefixed(wire::CreateMessage(builder, 0, wire::Body::Deliver, deliver.Union()),
                             wire::MessageIdentifier());
  const auto* bytes = builder.GetBufferPointer();
  return {bytes, bytes + builder.GetSize()};
}

/// Collects rows for one frame.
class FrameBuilder {
 public:
  FrameBuilder(const OutputBatch& batch, std::size_t subscriptions, std::size_t enough)
      : batch_(batch), ids_(subscriptions, 0), enough_(enough) {}

  void add(const DeliveredRow& delivered) {
    const auto& row = batch_.rows[delivered.row];
    Shape& shape = shape_of(row);
    collected_.begin(shape.table, row.timestamp);
    std::size_t next = 0;
    batch_.for_each_cell(row, [&](std::string_view name, const Datum& value) {
      const std::size_t cell = next++;
      if (value.exists()) collected_.put(column_of(shape, cell, name, value.type()), value);
    });
    roots_.push_back(row.place.root);
    ordinals_.push_back(row.place.ordinal);
    from_.push_back(delivered.from);
  }

  bool empty() const { return roots_.empty(); }
  bool full() const { return roots_.size() >= kRowsPerFrame || collected_.bytes() >= enough_; }

  DeliveryFrame finish() {
    flatbuffers::FlatBufferBuilder builder(collected_.bytes() + 1024);
    const auto batch = protocol::pack(builder, collected_.batch());
    const auto ids = builder.CreateVector(ids_);
    const auto from = ids_.size() > 1 ? builder.CreateVector(from_) : 0;
    const auto roots = builder.CreateVector(roots_);
    const auto ordinals = builder.CreateVector(ordinals_);
    builder.ForceDefaults(true);  // `lost` is written later, so it must have its place
    const auto deliver = wire::CreateDeliver(builder, ids, from, roots, ordinals, 0, batch);
    return {finish_message(builder, deliver), roots_.size()};
  }

 private:
  static constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};
  /// Where rows of a type with the same extra names go.
  struct Shape {
    TypeId type;
    std::uint32_t extras;
    std::uint16_t table = 0;
    std::vector<std::array<std::uint32_t, 4>> columns = {};  // by cell and type of the value
  };

  Shape& shape_of(const OutputBatch::Row& row) {
    if (last_ != nullptr && last_->type == row.type && last_->extras == row.extras) return *last_;
    const auto [it, added] =
        shapes_.try_emplace({row.type, row.extras}, Shape{row.type, row.extras});
    if (added) it->second.table = collected_.table(batch_.type_name(row), true);
    last_ = &it->second;
    return *last_;
  }

  std::uint32_t column_of(Shape& shape, std::size_t cell, std::string_view name, ValueType type) {
    if (cell >= shape.columns.size()) {
      shape.columns.resize(cell + 1, {kNoColumn, kNoColumn, kNoColumn, kNoColumn});
    }
    std::uint32_t& column = shape.columns[cell][static_cast<std::size_t>(type)];
    if (column == kNoColumn) column = collected_.column(shape.table, name, type);
    return column;
  }

  const OutputBatch& batch_;
  std::map<std::pair<TypeId, std::uint32_t>, Shape> shapes_;
  Shape* last_ = nullptr;  // of the row before
  std::vector<std::uint32_t> ids_;
  const std::size_t enough_;  // bytes
  BatchBuilder collected_;
  std::vector<std::uint64_t> roots_;
  std::vector<std::uint32_t> ordinals_;
  std::vector<std::uint16_t> from_;
};

wire::Deliver& deliver_in(protocol::Bytes& frame) {
  auto* message = flatbuffers::GetMutableRoot<wire::Message>(frame.data() + protocol::kPrefix);
  return *static_cast<wire::Deliver*>(message->mutable_body());
}

std::size_t row_bytes(const OutputBatch& batch, const OutputBatch::Row& row) {
  std::size_t bytes = batch.type_name(row).size();
  batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
    bytes += name.size() + value.length + kColumnOverhead;
  });
  return bytes;
}

}  // namespace

std::size_t delivery_bytes(const BatchCursor& event, const Limits& limits) {
  std::size_t bytes = kFrameOverhead + event.table().type.size();
  bytes += std::min(limits.max_subscriptions * sizeof(std::uint32_t), limits.max_frame / 4);
  for (const EventColumn& column : event.table().columns) {
    const Datum value = event.value(column);
    if (value.exists()) bytes += column.name.size() + value.length + kColumnOverhead;
  }
  return bytes;
}

void encode_delivery(const OutputBatch& batch, std::span<const DeliveredRow> rows,
                     std::size_t subscriptions, std::size_t max_frame,
                     const std::function<void(const DeliveryFrame&)>& take) {
  const std::size_t enough = std::min(kBytesPerFrame, max_frame / 4);
  std::optional<FrameBuilder> builder;
  const auto flush = [&] {
    if (!builder) return;
    DeliveryFrame frame = builder->finish();
    builder.reset();
    if (frame.bytes.size() > max_frame) frame.bytes = {};
    take(frame);
  };
  for (const DeliveredRow& row : rows) {
    // A large row gets a frame of its own, so that only it can be too large.
    const bool large = row_bytes(batch, batch.rows[row.row]) >= enough;
    if (large) flush();
    if (!builder) builder.emplace(batch, subscriptions, enough);
    builder->add(row);
    if (large || builder->full()) flush();
  }
  flush();
}

protocol::Bytes loss_notice(std::uint64_t rows) {
  flatbuffers::FlatBufferBuilder builder(256);
  const auto ids = builder.CreateVector(std::vector<std::uint32_t>{0});
  // The vectors of places are empty, but they are there, as in every Deliver.
  const auto roots = builder.CreateVector(std::vector<std::uint64_t>());
  const auto ordinals = builder.CreateVector(std::vector<std::uint32_t>());
  const auto batch = wire::CreateBatch(builder);
  return finish_message(builder,
                        wire::CreateDeliver(builder, ids, 0, roots, ordinals, rows, batch));
}

void address_to(protocol::Bytes& deliver, std::span<const std::uint32_t> subscriptions) {
  auto* ids = deliver_in(deliver).mutable_subscriptions();
  for (flatbuffers::uoffset_t i = 0; i < ids->size(); ++i) ids->Mutate(i, subscriptions[i]);
}

void set_lost(protocol::Bytes& deliver, std::uint64_t rows) {
  deliver_in(deliver).mutate_lost(rows);
}

}  // namespace gorgo::server

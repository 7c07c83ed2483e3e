#include "server/subscriptions/delivery.hpp"

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

/// What a Deliver has besides its events.
struct Parts {
  std::span<const std::uint32_t> ids;
  std::span<const std::uint16_t> from;
  std::span<const std::uint64_t> roots;
  std::span<const std::uint32_t> ordinals;
  Gap lost = {};
};

/// What clients differ in is built last, so that it stands at the beginning of the frame.
protocol::Bytes encode(BatchBuilder& collected, const Parts& parts) {
  flatbuffers::FlatBufferBuilder builder(collected.bytes() + 1024);
  const auto batch = protocol::pack(builder, collected.batch());
  const auto vector = [&](auto values) {
    return builder.CreateVector(values.data(), values.size());
  };
  const auto from = parts.ids.size() > 1 ? vector(parts.from) : 0;
  // The vectors of places are there even if they are empty.
  const auto roots = vector(parts.roots);
  const auto ordinals = vector(parts.ordinals);
  const auto ids = vector(parts.ids);
  builder.ForceDefaults(true);  // what is lost is written later, so it must have its place
  const Gap& lost = parts.lost;
  const auto deliver =
      wire::CreateDeliver(builder, ids, from, roots, ordinals, lost.rows, batch, lost.first.root,
                          lost.first.ordinal, lost.last.root, lost.last.ordinal);
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

  /// `text`: the bytes of the row's strings, where it is in columns.
  void add(const DeliveredRow& delivered, std::size_t text) {
    const auto& row = batch_.rows[delivered.row];
    Shape& shape = shape_of(row);
    if (row.event == OutputBatch::kInCells) {
      begin(nullptr, shape.table, row.timestamp);
      put_cells(shape, row);
    } else {
      make_columns(shape, row);
      begin(&shape, shape.table, row.timestamp);
      collected_.count_text(text);
      note(shape, row.event);
    }
    roots_.push_back(row.place.root);
    ordinals_.push_back(row.place.ordinal);
    from_.push_back(delivered.from);
    rows_.add({1, row.place, row.place});
  }

  bool empty() const { return roots_.empty(); }
  bool full() const { return roots_.size() >= kRowsPerFrame || collected_.bytes() >= enough_; }

  EncodedDelivery finish() {
    for (auto& [key, shape] : shapes_) put_values(shape);
    const Parts parts{.ids = ids_, .from = from_, .roots = roots_, .ordinals = ordinals_};
    return {encode(collected_, parts), rows_};
  }

 private:
  static constexpr std::uint32_t kNoColumn = ~std::uint32_t{0};
  /// Where rows of a type with the same extra names go.
  struct Shape {
    std::uint16_t table = 0;                                 // that shapes of the same type share
    std::vector<std::array<std::uint32_t, 4>> columns = {};  // by cell and type of the value
    std::span<const EventColumn> from = {};  // where rows without cells stand; empty: none came
    std::vector<EventRun> runs = {};         // the last rows of the table, which have no values yet
  };

  /// Makes the columns before the rows, whose bytes are counted by them.
  void make_columns(Shape& shape, const OutputBatch::Row& row) {
    if (!shape.from.empty()) return;
    shape.from = batch_.columns_of(row);
    std::size_t cell = 0;
    batch_.for_each_name(row, [&](std::string_view name) {
      column_of(shape, cell, name, shape.from[cell].type);
      ++cell;
    });
  }

  /// Begins a row, which belongs to the runs of `shape`, if that is set. Values of other runs of
  /// the table are put before.
  void begin(Shape* shape, std::uint16_t table, Timestamp timestamp) {
    if (table >= in_runs_.size()) in_runs_.resize(table + std::size_t{1}, nullptr);
    Shape*& last = in_runs_[table];
    if (last != nullptr && last != shape) put_values(*last);
    last = shape;
    collected_.begin(table, timestamp);
  }

  static void note(Shape& shape, std::uint32_t event) {
    auto& runs = shape.runs;
    if (!runs.empty() && runs.back().first + runs.back().events == event) {
      ++runs.back().events;
    } else {
      runs.push_back({event, 1});
    }
  }

  void put_cells(Shape& shape, const OutputBatch::Row& row) {
    std::size_t next = 0;
    batch_.for_each_cell(row, [&](std::string_view name, const Datum& value) {
      const std::size_t cell = next++;
      if (value.exists()) collected_.put(column_of(shape, cell, name, value.type()), value);
    });
  }

  /// Puts the values of rows in columns that have none yet.
  void put_values(Shape& shape) {
    if (shape.runs.empty()) return;
    for (std::size_t cell = 0; cell < shape.from.size(); ++cell) {
      const auto type = static_cast<std::size_t>(shape.from[cell].type);
      collected_.put(shape.table, shape.columns[cell][type], shape.from[cell], shape.runs);
    }
    shape.runs.clear();
  }

  Shape& shape_of(const OutputBatch::Row& row) {
    const std::pair key(row.type, row.extras);
    if (last_ != nullptr && last_->first == key) return last_->second;
    const auto [it, added] = shapes_.try_emplace(key);
    if (added) it->second.table = collected_.table(batch_.type_name(row), true);
    last_ = &*it;
    return last_->second;
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
  using Shapes = std::map<std::pair<TypeId, std::uint32_t>, Shape>;  // by type and extras
  Shapes shapes_;
  Shapes::value_type* last_ = nullptr;  // of the row before
  std::vector<Shape*> in_runs_;         // by table: whose runs are its last rows; null: nobody's
  std::vector<std::uint32_t> ids_;
  const std::size_t enough_;  // bytes
  BatchBuilder collected_;
  std::vector<std::uint64_t> roots_;
  std::vector<std::uint32_t> ordinals_;
  std::vector<std::uint16_t> from_;
  Gap rows_;
};

/// Copies the rows of a delivery that its client gets into a frame of their own.
protocol::Bytes encode_rows(const ClientDelivery& delivery) {
  const wire::Deliver& deliver = delivery.shared->deliver();
  BatchBuilder collected;
  std::vector<std::uint64_t> roots;
  std::vector<std::uint32_t> ordinals;
  std::vector<std::uint16_t> from;
  const std::uint32_t end = delivery.first + delivery.rows;
  BatchCursor event(protocol::view_of(*deliver.batch()));
  for (; event.position() < end; event.advance()) {
    const std::uint32_t row = event.position();
    if (row < delivery.first) continue;
    collected.add(event.table().type, event.timestamp());
    for (const EventColumn& column : event.table().columns) {
      const Datum value = event.value(column);
      if (value.exists()) collected.attribute(column.name, value);
    }
    const Place place = delivery.shared->place(row);
    roots.push_back(place.root);
    ordinals.push_back(place.ordinal);
    from.push_back(deliver.from() == nullptr ? 0 : deliver.from()->Get(row));
  }
  return encode(collected, {.ids = *delivery.ids,
                            .from = from,
                            .roots = roots,
                            .ordinals = ordinals,
                            .lost = delivery.lost});
}

/// The beginning of the shared frame, with what is the client's own.
protocol::Bytes head_of(const ClientDelivery& delivery) {
  const auto shared = delivery.shared->head();
  protocol::Bytes head(shared.begin(), shared.end());
  auto* message = flatbuffers::GetMutableRoot<wire::Message>(head.data() + protocol::kPrefix);
  auto& deliver = *static_cast<wire::Deliver*>(message->mutable_body());
  auto* ids = deliver.mutable_subscriptions();
  for (flatbuffers::uoffset_t i = 0; i < ids->size(); ++i) ids->Mutate(i, (*delivery.ids)[i]);
  const Gap& lost = delivery.lost;
  deliver.mutate_lost(lost.rows);
  deliver.mutate_first_lost_root(lost.first.root);
  deliver.mutate_first_lost_ordinal(lost.first.ordinal);
  deliver.mutate_last_lost_root(lost.last.root);
  deliver.mutate_last_lost_ordinal(lost.last.ordinal);
  return head;
}

/// What rows take in a frame, about.
class RowSizes {
 public:
  explicit RowSizes(const OutputBatch& batch) : batch_(batch) {}

  struct Size {
    std::size_t all = 0;
    std::size_t text = 0;  ///< of it, the strings of a row in columns
  };
  Size of(const OutputBatch::Row& row) {
    if (row.event == OutputBatch::kInCells) return {of_cells(row)};
    if (const std::pair kind(row.type, row.extras); kind != kind_) {
      kind_ = kind;
      begin(row);
    }
    std::size_t text = 0;
    for (const EventColumn* column : texts_) text += column->at(row.event).length;
    return {beside_text_ + text, text};
  }

 private:
  const OutputBatch& batch_;
  // Type and extras of the last row in columns; none has both of these.
  std::pair<TypeId, std::uint32_t> kind_ = {kNoType, OutputBatch::kNoExtras};
  std::size_t beside_text_ = 0;
  std::vector<const EventColumn*> texts_;

  std::size_t of_cells(const OutputBatch::Row& row) const {
    std::size_t bytes = batch_.type_name(row).size();
    batch_.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
      bytes += name.size() + value.length + kColumnOverhead;
    });
    return bytes;
  }

  void begin(const OutputBatch::Row& row) {
    beside_text_ = batch_.type_name(row).size();
    batch_.for_each_name(
        row, [&](std::string_view name) { beside_text_ += name.size() + kColumnOverhead; });
    texts_.clear();
    for (const EventColumn& column : batch_.columns_of(row)) {
      if (column.type == ValueType::string) texts_.push_back(&column);
    }
  }
};

}  // namespace

void Gap::add(const Gap& other) {
  if (other.rows == 0) return;
  if (rows == 0 || other.first < first) first = other.first;
  if (rows == 0 || last < other.last) last = other.last;
  rows += other.rows;
}

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
                     const std::function<void(EncodedDelivery)>& take) {
  const std::size_t enough = std::min(kBytesPerFrame, max_frame / 4);
  std::optional<FrameBuilder> builder;
  RowSizes sizes(batch);
  const auto flush = [&] {
    if (!builder) return;
    EncodedDelivery encoded = builder->finish();
    builder.reset();
    if (encoded.bytes.size() > max_frame) encoded.bytes = {};
    take(std::move(encoded));
  };
  for (const DeliveredRow& row : rows) {
    // A large row gets a frame of its own, so that only it can be too large.
    const RowSizes::Size size = sizes.of(batch.rows[row.row]);
    const bool large = size.all >= enough;
    if (large) flush();
    if (!builder) builder.emplace(batch, subscriptions, enough);
    builder->add(row, size.text);
    if (large || builder->full()) flush();
  }
  flush();
}

SharedDelivery::SharedDelivery(EncodedDelivery encoded, std::uint64_t number, MemoryBudget& memory)
    : encoded_(std::move(encoded)), number_(number), memory_(memory) {
  const auto& ids = *deliver().subscriptions();
  const auto* end = reinterpret_cast<const std::uint8_t*>(ids.data() + ids.size());
  head_ = static_cast<std::size_t>(end - encoded_.bytes.data());
  memory_.resize(encoded_.bytes.size());
}

const wire::Deliver& SharedDelivery::deliver() const {
  return *wire::GetSizePrefixedMessage(encoded_.bytes.data())->body_as_Deliver();
}

Place SharedDelivery::place(std::uint32_t row) const {
  return {deliver().roots()->Get(row), deliver().ordinals()->Get(row)};
}

ClientDelivery ClientDelivery::of(std::shared_ptr<const SharedDelivery> shared, SubscriptionIds ids,
                                  SlowConsumer policy) {
  const std::uint32_t rows = shared->rows();
  ClientDelivery whole;
  whole.shared = std::move(shared);
  whole.ids = std::move(ids);
  whole.policy = policy;
  whole.rows = rows;
  return whole;
}

ClientDelivery ClientDelivery::only(const Gap& lost, std::uint32_t subscription) {
  ClientDelivery notice;
  notice.ids = std::make_shared<const std::vector<std::uint32_t>>(1, subscription);
  notice.lost = lost;
  notice.policy = SlowConsumer::drop;  // then the next delivery tells of it
  return notice;
}

std::size_t ClientDelivery::bytes() const {
  constexpr std::size_t kHead = 160;
  if (shared == nullptr) return kHead;
  return kHead + shared->bytes() * rows / shared->rows();
}

Gap ClientDelivery::as_gap() const {
  if (rows == 0 || durable) return {};
  return {rows, shared->place(first), shared->place(first + rows - 1)};
}

std::uint32_t ClientDelivery::subscription_of(std::uint32_t row) const {
  const auto* from = shared->deliver().from();
  return (*ids)[from == nullptr ? 0 : from->Get(row)];
}

DeliverFrame frame_of(const ClientDelivery& delivery) {
  if (delivery.shared == nullptr) {
    BatchBuilder none;
    return {
        encode(
            none,
            {.ids = *delivery.ids, .from = {}, .roots = {}, .ordinals = {}, .lost = delivery.lost}),
        {}};
  }
  if (delivery.rows < delivery.shared->rows()) return {encode_rows(delivery), {}};
  return {head_of(delivery), delivery.shared->rest()};
}

}  // namespace gorgo::server

#include "protocol/batch_reader.hpp"

namespace gorgo::protocol {
namespace {

bool is_present(const wire::Column& column, std::uint32_t row) {
  const auto* bits = column.present();
  return bits == nullptr || bits->size() == 0 || ((bits->Get(row / 8) >> (row % 8)) & 1) != 0;
}

Datum cell(const wire::Column& column, std::uint32_t row) {
  switch (column.type()) {
    case wire::ValueType::Int:
      return Datum::of(column.ints()->Get(row));
    case wire::ValueType::Float:
      return Datum::of(column.floats()->Get(row));
    case wire::ValueType::Bool:
      return Datum::of(column.bools()->Get(row) != 0);
    case wire::ValueType::String: {
      const std::uint32_t begin = row == 0 ? 0 : column.ends()->Get(row - 1);
      const std::uint32_t length = column.ends()->Get(row) - begin;
      if (length == 0) return Datum::of(std::string_view());
      const auto* bytes = reinterpret_cast<const char*>(column.bytes()->data());
      return Datum::of(std::string_view(bytes + begin, length));
    }
  }
  return Datum::none();
}

}  // namespace

BatchReader::BatchReader(const wire::Batch& batch) : order_(batch.order()) {
  if (order_ != nullptr && order_->size() == 0) order_ = nullptr;
  if (batch.tables() == nullptr) return;
  tables_.reserve(batch.tables()->size());
  for (const auto* table : *batch.tables()) {
    Table& added = tables_.emplace_back(Table{table->type()->string_view(), table, {}, {}});
    if (table->columns() == nullptr) continue;
    for (const auto* column : *table->columns()) {
      added.names.push_back(column->name()->string_view());
      added.columns.push_back(column);
    }
  }
}

bool BatchReader::advance() {
  if (order_ != nullptr) {
    if (position_ == order_->size()) return false;
    current_ = &tables_[order_->Get(position_++)];
    return true;
  }
  while (position_ < tables_.size()) {
    current_ = &tables_[position_];
    if (current_->next < current_->wire->rows()) return true;
    ++position_;
  }
  return false;
}

bool BatchReader::next() {
  if (!advance()) return false;
  row_ = current_->next++;
  cells_.clear();
  for (const wire::Column* column : current_->columns) {
    cells_.push_back(is_present(*column, row_) ? cell(*column, row_) : Datum::none());
  }
  return true;
}

std::optional<Timestamp> BatchReader::timestamp() const {
  const auto* stamps = current_->wire->timestamps();
  if (stamps == nullptr || stamps->size() == 0) return std::nullopt;
  return stamps->Get(row_);
}

Event BatchReader::to_event() const {
  Event event{std::string(type()), timestamp(), {}};
  event.attributes.reserve(cells_.size());
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (!cells_[i].exists()) continue;
    event.attributes.push_back({std::string(names()[i]), to_value(cells_[i])});
  }
  return event;
}

}  // namespace gorgo::protocol

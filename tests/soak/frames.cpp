#include "frames.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace gorgo::soak {
namespace {

std::unique_ptr<wire::EventTableT> table_of(const std::string& type, std::uint32_t rows) {
  auto table = std::make_unique<wire::EventTableT>();
  table->type = type;
  table->rows = rows;
  return table;
}

protocol::Bytes publish(std::unique_ptr<wire::EventTableT> table) {
  wire::PublishT publish;
  publish.batch = std::make_unique<wire::BatchT>();
  publish.batch->tables.push_back(std::move(table));
  return protocol::encode(7, publish);
}

}  // namespace

protocol::Bytes bool_table(const std::string& type, std::uint32_t rows, std::size_t columns,
                           const std::string& prefix) {
  auto table = table_of(type, rows);
  for (std::size_t i = 0; i < columns; ++i) {
    auto column = std::make_unique<wire::ColumnT>();
    column->name = prefix + std::to_string(i);
    column->type = wire::ValueType::Bool;
    column->bools.assign(rows, i % 2);
    table->columns.push_back(std::move(column));
  }
  return publish(std::move(table));
}

protocol::Bytes text_event(const std::string& type, std::size_t bytes) {
  auto table = table_of(type, 1);
  auto column = std::make_unique<wire::ColumnT>();
  column->name = "text";
  column->type = wire::ValueType::String;
  column->bytes.assign(bytes, 'x');
  column->ends = {static_cast<std::uint32_t>(bytes)};
  table->columns.push_back(std::move(column));
  return publish(std::move(table));
}

protocol::Bytes stamped_events(const std::string& type, std::uint32_t rows, std::int64_t ahead) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  auto table = table_of(type, rows);
  table->timestamps.assign(
      rows, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() + ahead);
  return publish(std::move(table));
}

protocol::Bytes deploy_frame(std::uint64_t id, const std::string& name, const std::string& text) {
  wire::DeployT deploy;
  deploy.name = name;
  deploy.text = text;
  deploy.replace = true;
  return protocol::encode(id, deploy);
}

}  // namespace gorgo::soak

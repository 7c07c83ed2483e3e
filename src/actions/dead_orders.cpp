#include "actions/dead_orders.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

namespace gorgo::actions {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostDeadOrders = 1000, kMostDeadBytes = std::size_t{1} << 20;

/// JSON has no number for what is none, or has no bound.
constexpr const char* kNone = "nan";
constexpr const char* kLargest = "inf";
constexpr const char* kLeast = "-inf";

Json to_json(const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return nullptr;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* number = std::get_if<double>(&value);
  if (std::isfinite(*number)) return *number;
  return {{"float", std::isnan(*number) ? kNone : *number > 0 ? kLargest : kLeast}};
}

Value to_value(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  const std::string& name = json.at("float").get_ref<const std::string&>();
  using Limits = std::numeric_limits<double>;
  return name == kNone ? Limits::quiet_NaN()
                       : (name == kLargest ? Limits::infinity() : -Limits::infinity());
}

Json to_json(const doors::Departing::Row& row) {
  Json attributes = Json::array();
  for (const auto& [name, value] : row.event.attributes) {
    attributes.push_back({name, to_json(value)});
  }
  return {{"root", row.place.root},
          {"ordinal", row.place.ordinal},
          {"type", row.event.type},
          {"time", row.event.timestamp.value_or(0)},
          {"attributes", std::move(attributes)}};
}

doors::Departing::Row to_row(const Json& json) {
  doors::Departing::Row row{{json.at("root"), json.at("ordinal")}, {}};
  row.event.type = json.at("type");
  row.event.timestamp = json.at("time").get<Timestamp>();
  for (const Json& attribute : json.at("attributes")) {
    row.event.attributes.push_back({attribute.at(0), to_value(attribute.at(1))});
  }
  return row;
}

}  // namespace

DeadOrders::DeadOrders(const std::string& saved) {
  try {
    for (const Json& one : Json::parse(saved)) {
      Order order{{}, one.at("key")};
      for (const Json& row : one.at("rows")) order.rows.push_back(to_row(row));
      if (!order.rows.empty()) add(std::move(order));
    }
  } catch (const Json::exception&) {
    all_.clear();
    bytes_ = 0;
  }
}

std::string DeadOrders::saved() const {
  Json orders = Json::array();
  for (const Dead& dead : all_) {
    Json rows = Json::array();
    for (const auto& row : dead.order.rows) rows.push_back(to_json(row));
    orders.push_back({{"key", dead.order.key}, {"rows", std::move(rows)}});
  }
  return orders.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void DeadOrders::erase(std::list<Dead>::iterator dead) {
  bytes_ -= dead->bytes;
  all_.erase(dead);
}

void DeadOrders::add(Order order) {
  forget(order.key);
  const std::size_t bytes = lines_of(order).size();
  bytes_ += bytes;
  all_.push_back({std::move(order), bytes});
  while (all_.size() > kMostDeadOrders || bytes_ > kMostDeadBytes) erase(all_.begin());
}

std::vector<Order> DeadOrders::retry() {
  std::vector<Order> orders;
  for (Dead& dead : all_) {
    if (!std::exchange(dead.is_tried, true)) orders.push_back(dead.order);
  }
  return orders;
}

bool DeadOrders::forget(const std::string& key) {
  const auto found =
      std::ranges::find_if(all_, [&](const Dead& dead) { return dead.order.key == key; });
  if (found == all_.end()) return false;
  erase(found);
  return true;
}

std::size_t DeadOrders::retriable() const {
  std::size_t events = 0;
  for (const Dead& dead : all_) events += dead.is_tried ? 0 : dead.order.rows.size();
  return events;
}

}  // namespace gorgo::actions

#include "server/trex/trex_delivery.hpp"

#include <limits>

#include "protocol/batch.hpp"
#include "protocol/trex/latin1.hpp"

namespace gorgo::server {
namespace {

namespace trex = protocol::trex;

/// Rounds down, as no clock shows what is still to come.
std::int64_t milliseconds(Timestamp timestamp) {
  constexpr Timestamp kUnit = 1'000'000;
  return timestamp / kUnit - (timestamp % kUnit < 0 ? 1 : 0);
}

bool fits(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

TrexDelivery::TrexDelivery(const ClientDelivery& delivery, const Types& types)
    : delivery_(delivery),
      types_(types),
      event_(protocol::view_of(*delivery.shared->deliver().batch())) {}

void TrexDelivery::write(trex::Bytes& out, std::size_t enough) {
  for (; !event_.done() && out.size() < enough; event_.advance()) {
    const auto type = types_.find(delivery_.subscription_of(event_.position()));
    if (type == types_.end()) continue;  // the client has taken the subscription back
    fill(type->second);
    trex::encode(out, packet_);
  }
}

void TrexDelivery::fill(std::int32_t type) {
  packet_.type = type;
  packet_.timestamp = milliseconds(event_.timestamp().value_or(0));
  packet_.attributes.clear();
  converted_.clear();
  for (const EventColumn& column : event_.table().columns) {
    const Datum value = event_.value(column);
    if (value.exists()) packet_.attributes.push_back({latin1(column.name), literal(value)});
  }
}

trex::Literal TrexDelivery::literal(const Datum& value) {
  switch (value.type()) {
    case ValueType::integer:
      if (fits(value.integer)) return static_cast<std::int32_t>(value.integer);
      return static_cast<float>(value.integer);
    case ValueType::floating:
      return static_cast<float>(value.floating);
    case ValueType::boolean:
      return value.boolean;
    case ValueType::string:
      return latin1(value.text());
  }
  return {};
}

std::string_view TrexDelivery::latin1(std::string_view utf8) {
  if (trex::is_ascii(utf8)) return utf8;
  std::string& text = converted_.emplace_back();
  trex::append_latin1(text, utf8);
  return text;
}

}  // namespace gorgo::server

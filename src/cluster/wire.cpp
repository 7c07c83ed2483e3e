#include "cluster/wire.hpp"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "protocol/batch.hpp"
#include "protocol/batch_check.hpp"

namespace gorgo::cluster {
namespace {

using Json = nlohmann::json;

/// Takes a number from the front of a text, and the separator behind it unless it is 0.
template <class T>
bool take(std::string_view& text, T& number, char separator) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (separator == 0) return text.empty();
  if (!text.starts_with(separator)) return false;
  text.remove_prefix(1);
  return true;
}

std::string text_of(const Place& place) {
  return std::to_string(place.root) + "-" + std::to_string(place.ordinal);
}

/// Null: the frame is none with events.
const wire::Deliver* deliver_in(const protocol::Bytes& frame) {
  if (frame.size() < protocol::kPrefix) return nullptr;
  const auto prefix = std::span(frame).first<protocol::kPrefix>();
  const auto content = protocol::content_size(prefix, frame.size());
  if (!content || *content + protocol::kPrefix != frame.size()) return nullptr;
  const auto message = protocol::open_frame(frame);
  return message ? (*message)->body_as_Deliver() : nullptr;
}

}  // namespace

std::string InputPlaces::text() const { return text_of(first) + "/" + text_of(last); }

std::optional<InputPlaces> InputPlaces::parse(std::string_view text) {
  InputPlaces places;
  if (take(text, places.first.root, '-') && take(text, places.first.ordinal, '/') &&
      take(text, places.last.root, '-') && take(text, places.last.ordinal, 0)) {
    return places;
  }
  return std::nullopt;
}

std::string OutputPlace::text() const {
  return std::to_string(sequence) + "-" + std::to_string(row) + "-" + std::to_string(ordinal);
}

std::optional<OutputPlace> OutputPlace::parse(std::string_view text) {
  OutputPlace place;
  if (take(text, place.sequence, '-') && take(text, place.row, '-') &&
      take(text, place.ordinal, 0)) {
    return place;
  }
  return std::nullopt;
}

protocol::Bytes encode_events(const EventBatch& events, std::span<const Place> places) {
  flatbuffers::FlatBufferBuilder builder(4096);
  std::vector<std::uint64_t> roots;
  std::vector<std::uint32_t> ordinals;
  for (const Place& place : places) {
    roots.push_back(place.root);
    ordinals.push_back(place.ordinal);
  }
  const auto batch = protocol::pack(builder, events);
  const auto subscriptions = builder.CreateVector(std::vector<std::uint32_t>{0});
  const auto root_list = builder.CreateVector(roots);
  const auto ordinal_list = builder.CreateVector(ordinals);
  wire::DeliverBuilder deliver(builder);
  deliver.add_subscriptions(subscriptions);
  deliver.add_roots(root_list);
  deliver.add_ordinals(ordinal_list);
  deliver.add_batch(batch);
  const auto done = deliver.Finish();
  builder.FinishSizePrefixed(wire::CreateMessage(builder, 0, wire::Body::Deliver, done.Union()),
                             wire::MessageIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

Result<ReceivedEvents> ReceivedEvents::decode(std::string_view payload) {
  ReceivedEvents received;
  received.frame_.assign(payload.begin(), payload.end());
  const wire::Deliver* const deliver = received.deliver_ = deliver_in(received.frame_);
  if (deliver == nullptr) return Error{"a message of a cluster that has no events in it", ""};
  const std::size_t size = received.frame_.size();
  constexpr auto kMostRows = std::numeric_limits<std::uint32_t>::max();
  if (auto checked = protocol::check_batch(*deliver->batch(), size, kMostRows); !checked) {
    return checked.error();
  }
  const auto* const roots = deliver->roots();
  const auto* const ordinals = deliver->ordinals();
  const std::uint64_t rows = protocol::row_count(*deliver->batch());
  if (roots == nullptr || ordinals == nullptr || roots->size() != rows ||
      ordinals->size() != rows || !protocol::is_aligned(roots) || !protocol::is_aligned(ordinals)) {
    return Error{"a message of a cluster whose events do not all have places", ""};
  }
  for (const EventTable& table : protocol::view_of(*deliver->batch()).tables) {
    if (table.events > 0 && table.timestamps.empty()) {
      return Error{"a message of a cluster with events that have no timestamps", ""};
    }
  }
  for (std::uint32_t row = 0; row < rows; ++row) {
    received.places_.push_back({.root = roots->Get(row), .ordinal = ordinals->Get(row)});
  }
  return {std::in_place, std::move(received)};
}

EventBatch ReceivedEvents::batch() const { return protocol::view_of(*deliver_->batch()); }

std::string RulesMessage::to_json() const {
  Json all = Json::array();
  for (const RuleText& one : texts) all.push_back({{"name", one.name}, {"text", one.text}});
  return Json{{"version", version}, {"texts", all}, {"rules", rules}}.dump();
}

Result<RulesMessage> RulesMessage::parse(std::string_view json) {
  const Error wrong{"a message of a cluster that should have rules, and is not understood", ""};
  const Json all = Json::parse(json, nullptr, false);
  if (all.is_discarded() || !all.is_object()) return wrong;
  try {
    RulesMessage message{.version = all.at("version").get<std::uint64_t>(),
                         .texts = {},
                         .rules = all.at("rules").get<std::vector<std::string>>()};
    for (const Json& one : all.at("texts")) {
      message.texts.push_back(
          {one.at("name").get<std::string>(), one.at("text").get<std::string>()});
    }
    return message;
  } catch (const Json::exception&) {
    return wrong;
  }
}

}  // namespace gorgo::cluster

#include "server/trex/trex_intake.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "codec/names.hpp"
#include "protocol/batch.hpp"
#include "protocol/trex/latin1.hpp"

namespace gorgo::server {
namespace {

namespace trex = protocol::trex;

/// Enough for a batch that is worth its overhead.
constexpr std::size_t kEnough = std::size_t{256} << 10;
/// An event with more attributes gets a batch of its own.
constexpr std::size_t kFewAttributes = 64;

/// Nothing stands for the server's time.
std::optional<Timestamp> nanoseconds(std::int64_t milliseconds) {
  constexpr std::int64_t kUnit = 1'000'000;
  constexpr std::int64_t kMost = std::numeric_limits<Timestamp>::max() / kUnit;
  if (milliseconds == 0) return std::nullopt;
  return std::clamp(milliseconds, -kMost, kMost) * kUnit;
}

/// A name that stands twice, or an empty one, or one that is too long.
std::optional<Error> problem_of(const std::vector<trex::Attribute>& attributes) {
  constexpr std::size_t kCompareAll = 16;
  constexpr std::size_t kSurelyShort =
      codec::kLongestName / 2;  // UTF-8 takes twice as much at most
  const auto twice = [](std::string_view name) {
    return Error{"an attribute `" + trex::to_utf8(name) + "` stands twice in an event", ""};
  };
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const std::string_view name = attributes[i].name;
    if (name.empty() || name.size() > kSurelyShort) {
      const std::size_t bytes = trex::to_utf8(name).size();
      if (bytes == 0 || bytes > codec::kLongestName) {
        return Error{"the name of an attribute has " + std::to_string(bytes) + " bytes",
                     "names have 1 to " + std::to_string(codec::kLongestName) + " bytes"};
      }
    }
    for (std::size_t k = 0; k < i && attributes.size() <= kCompareAll; ++k) {
      if (attributes[k].name == name) return twice(name);
    }
  }
  if (attributes.size() <= kCompareAll) return std::nullopt;
  std::vector<std::string_view> names;
  for (const trex::Attribute& attribute : attributes) names.push_back(attribute.name);
  std::ranges::sort(names);
  const auto same = std::ranges::adjacent_find(names);
  return same == names.end() ? std::nullopt : std::optional(twice(*same));
}

}  // namespace

const std::string& TrexIntake::name_of(std::int32_t type) {
  const auto known = known_.find(type);
  return known != known_.end() ? known->second : known_.emplace(type, names_(type)).first->second;
}

std::string_view TrexIntake::utf8(std::string_view latin1) {
  if (trex::is_ascii(latin1)) return latin1;
  utf8_.clear();
  trex::append_utf8(utf8_, latin1);
  return utf8_;
}

bool TrexIntake::full_for(const trex::Publication& publication) const {
  if (empty()) return false;
  return batch_.events() >= max_rows_ || batch_.bytes() >= kEnough || batch_.full() ||
         publication.attributes.size() > kFewAttributes;
}

Result<void> TrexIntake::add(const trex::Publication& publication) {
  if (auto problem = problem_of(publication.attributes)) return *problem;
  batch_.add(name_of(publication.type), nanoseconds(publication.timestamp));
  for (const trex::Attribute& attribute : publication.attributes) {
    Datum value;
    std::string converted;
    if (const auto* text = std::get_if<std::string_view>(&attribute.value)) {
      converted = trex::is_ascii(*text) ? std::string() : trex::to_utf8(*text);
      value = Datum::of(converted.empty() ? *text : std::string_view(converted));
    } else if (const auto* integer = std::get_if<std::int32_t>(&attribute.value)) {
      value = Datum::of(std::int64_t{*integer});
    } else if (const auto* real = std::get_if<float>(&attribute.value)) {
      value = Datum::of(double{*real});
    } else {
      value = Datum::of(std::get<bool>(attribute.value));
    }
    batch_.attribute(utf8(attribute.name), value);
  }
  return {};
}

protocol::Bytes TrexIntake::take() {
  flatbuffers::FlatBufferBuilder builder(batch_.bytes() + 1024);
  const auto packed = protocol::pack(builder, batch_.batch());
  const auto publish = wire::CreatePublish(builder, 0, 0, wire::AckMode::None, packed);
  builder.FinishSizePrefixed(wire::CreateMessage(builder, 0, wire::Body::Publish, publish.Union()),
                             wire::MessageIdentifier());
  batch_ = BatchBuilder();
  known_.clear();
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace gorgo::server

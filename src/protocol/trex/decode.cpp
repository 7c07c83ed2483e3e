#include "protocol/trex/decode.hpp"

#include <string>
#include <utility>

#include "codec/names.hpp"
#include "protocol/trex/body_reader.hpp"
#include "protocol/trex/read_lists.hpp"

namespace gorgo::protocol::trex {
namespace {

// A name's length, a type and the shortest value.
constexpr std::size_t kLeastAttribute = 4 + 1 + 1;

/// A list of what names attributes has at most as many elements as a type may have attributes.
std::size_t list_size(BodyReader& reader, std::size_t least, std::string_view what) {
  const std::size_t size = reader.count(least, what);
  if (size <= codec::kMostAttributes) return size;
  reader.fail("has more than " + std::to_string(codec::kMostAttributes) + " " + std::string(what));
  return 0;
}

Subscription subscription(BodyReader& reader) {
  Subscription result;
  result.type = reader.integer("the event type");
  result.constraints = read_constraints(reader);
  return result;
}

Result<Subscription> finished(const BodyReader& reader, Subscription result) {
  if (reader.failed()) return reader.error();
  return result;
}

}  // namespace

std::vector<Constraint> read_constraints(BodyReader& reader) {
  std::vector<Constraint> result(list_size(reader, kLeastAttribute + 1, "constraints"));
  for (Constraint& constraint : result) {
    constraint.name = reader.text("a name");
    constraint.comparison = reader.choice(Comparison::greater_equal, "a comparison");
    constraint.value = reader.literal();
    if (reader.failed()) break;
  }
  return result;
}

void read_attributes(BodyReader& reader, std::vector<Attribute>& attributes) {
  attributes.resize(list_size(reader, kLeastAttribute, "attributes"));
  for (Attribute& attribute : attributes) {
    attribute.name = reader.text("a name");
    attribute.value = reader.literal();
    if (reader.failed()) break;
  }
}

Result<void> decode(std::span<const std::uint8_t> body, Publication& publication) {
  BodyReader reader(body);
  publication.type = reader.integer("the event type");
  publication.timestamp = reader.long_integer("the timestamp");
  read_attributes(reader, publication.attributes);
  if (reader.failed()) return reader.error();
  return {};
}

Result<Subscription> decode_subscription(std::span<const std::uint8_t> body) {
  BodyReader reader(body);
  Subscription result = subscription(reader);
  return finished(reader, std::move(result));
}

Result<Subscription> decode_unsubscription(std::span<const std::uint8_t> body) {
  BodyReader reader(body);
  reader.byte("the packet within");
  reader.integer("the packet within");
  Subscription result = subscription(reader);
  return finished(reader, std::move(result));
}

}  // namespace gorgo::protocol::trex

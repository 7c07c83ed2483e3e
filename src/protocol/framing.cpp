#include "protocol/framing.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>

namespace gorgo::protocol {
namespace {

// An offset, the identifier, and the smallest table with its vtable.
constexpr std::size_t kSmallestContent = 16;
// A table and the reference to it. Only references to one table again and again take less.
constexpr std::size_t kSmallestTable = 8;

flatbuffers::Verifier::Options verifier_options(std::size_t frame_size) {
  flatbuffers::Verifier::Options options;
  options.max_depth = 16;  // messages are 6 deep
  options.max_tables = static_cast<flatbuffers::uoffset_t>(frame_size / kSmallestTable);
  return options;
}

}  // namespace

Result<std::size_t> content_size(std::span<const std::uint8_t, kPrefix> prefix,
                                 std::size_t max_frame) {
  const std::size_t size = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(prefix.data());
  if (size < kSmallestContent) {
    return Error{"a frame of " + std::to_string(size) + " bytes is too small for a message",
                 "each frame begins with its size, 4 bytes, little-endian"};
  }
  if (size + kPrefix > max_frame) {
    constexpr std::string_view kHttp = "HTTP";
    if (std::ranges::equal(prefix, kHttp)) {
      return Error{"the other side speaks HTTP, not the native protocol",
                   "take the port of `gorgo serve --listen`, such as 127.0.0.1:7450"};
    }
    return Error{"a frame of " + std::to_string(size + kPrefix) + " bytes is above the limit of " +
                     std::to_string(max_frame) + " bytes",
                 "send smaller batches; the first frame must be a Hello"};
  }
  return size;
}

Result<const wire::Message*> open_frame(std::span<const std::uint8_t> frame) {
  assert(reinterpret_cast<std::uintptr_t>(frame.data()) % 8 == 0);
  if (!flatbuffers::BufferHasIdentifier(frame.data(), wire::MessageIdentifier(), true)) {
    return Error{"the frame has not the identifier \"GRGO\"", "this port speaks docs/protocol.md"};
  }
  flatbuffers::Verifier verifier(frame.data(), frame.size(), verifier_options(frame.size()));
  if (!wire::VerifySizePrefixedMessageBuffer(verifier)) {
    return Error{"the frame holds no valid FlatBuffers message of gorgo.fbs", ""};
  }
  const auto* message = wire::GetSizePrefixedMessage(frame.data());
  if (message->body() == nullptr) return Error{"the message has no body", ""};
  return message;
}

std::string_view name_of(wire::Body kind) {
  return kind <= wire::Body::MAX ? wire::EnumNameBody(kind) : "message of a later version";
}

}  // namespace gorgo::protocol

#include "protocol/framing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gorgo::protocol {
namespace {

using ::testing::HasSubstr;

Bytes hello() {
  wire::HelloT hello;
  hello.min_version = 1;
  hello.max_version = 3;
  hello.client = "test";
  return encode(7, hello);
}

std::span<const std::uint8_t, kPrefix> prefix(const Bytes& frame) {
  return std::span<const std::uint8_t, kPrefix>(frame.data(), kPrefix);
}

TEST(Framing, AMessageComesBack) {
  const Bytes frame = hello();
  EXPECT_EQ(content_size(prefix(frame), kDefaultMaxFrame).value(), frame.size() - kPrefix);
  const auto message = open_frame(frame);
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ((*message)->id(), 7u);
  ASSERT_EQ((*message)->body_type(), wire::Body::Hello);
  EXPECT_EQ((*message)->body_as_Hello()->max_version(), 3);
  EXPECT_EQ((*message)->body_as_Hello()->client()->str(), "test");
}

TEST(Framing, SizesOutsideTheLimitsAreNamed) {
  const Bytes tiny = {3, 0, 0, 0};
  EXPECT_THAT(content_size(prefix(tiny), 100).error().message, HasSubstr("3 bytes is too small"));
  const Bytes huge = {0xff, 0xff, 0xff, 0xff};
  EXPECT_THAT(content_size(prefix(huge), kDefaultMaxFrame).error().message,
              HasSubstr("above the limit of 16777216 bytes"));
  const Bytes exact = {96, 0, 0, 0};
  EXPECT_EQ(content_size(prefix(exact), 100).value(), 96u);
  EXPECT_FALSE(content_size(prefix(exact), 99));
}

TEST(Framing, AnotherIdentifierIsRefused) {
  Bytes frame = hello();
  frame[8] = 'X';
  EXPECT_THAT(open_frame(frame).error().message, HasSubstr("identifier"));
}

TEST(Framing, EveryTruncationIsRefused) {
  const Bytes whole = hello();
  const std::size_t padding = 3;  // behind the last string, not part of the message
  for (std::size_t size = kPrefix + 16; size + padding < whole.size(); ++size) {
    Bytes frame(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    flatbuffers::WriteScalar(frame.data(), static_cast<std::uint32_t>(size - kPrefix));
    EXPECT_FALSE(open_frame(frame)) << size;
  }
}

TEST(Framing, AMessageWithoutABodyIsRefused) {
  flatbuffers::FlatBufferBuilder builder;
  builder.FinishSizePrefixed(wire::CreateMessage(builder, 5), wire::MessageIdentifier());
  const Bytes frame(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  EXPECT_FALSE(open_frame(frame));
}

TEST(Framing, AKindOfALaterVersionIsRefused) {
  flatbuffers::FlatBufferBuilder builder;
  const auto body = wire::CreateUnsubscribe(builder, 1);
  builder.FinishSizePrefixed(
      wire::CreateMessage(builder, 5, static_cast<wire::Body>(200), body.Union()),
      wire::MessageIdentifier());
  const Bytes frame(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  EXPECT_THAT(open_frame(frame).error().message, HasSubstr("kind"));
}

}  // namespace
}  // namespace gorgo::protocol

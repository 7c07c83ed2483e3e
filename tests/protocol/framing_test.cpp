#include "protocol/framing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "protocol/frame_cutter.hpp"

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
  const Bytes http = {'H', 'T', 'T', 'P'};
  EXPECT_THAT(content_size(prefix(http), kDefaultMaxFrame).error().message, HasSubstr("HTTP"));
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

TEST(Framing, AKindOfALaterVersionKeepsItsId) {
  flatbuffers::FlatBufferBuilder builder;
  const auto body = wire::CreateUnsubscribe(builder, 1);
  builder.FinishSizePrefixed(
      wire::CreateMessage(builder, 5, static_cast<wire::Body>(200), body.Union()),
      wire::MessageIdentifier());
  const Bytes frame(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
  const auto message = open_frame(frame);
  ASSERT_TRUE(message);
  EXPECT_EQ((*message)->id(), 5u);
  EXPECT_EQ((*message)->body_as_Unsubscribe(), nullptr);
  EXPECT_EQ(name_of((*message)->body_type()), "message of a later version");
}

Bytes finished(flatbuffers::FlatBufferBuilder& builder, wire::Body kind,
               flatbuffers::Offset<void> body) {
  builder.FinishSizePrefixed(wire::CreateMessage(builder, 5, kind, body),
                             wire::MessageIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// A Publish whose table has one column in `places` places.
Bytes one_column_in_many_places(std::size_t places) {
  flatbuffers::FlatBufferBuilder builder;
  const auto column = wire::CreateColumn(builder, builder.CreateString("c"));
  const auto columns = builder.CreateVector(std::vector(places, column));
  const auto type = builder.CreateString("T");
  const auto table = wire::CreateEventTable(builder, type, 0, 0, columns);
  const auto batch = wire::CreateBatch(builder, builder.CreateVector(std::vector{table}));
  return finished(builder, wire::Body::Publish,
                  wire::CreatePublish(builder, 0, 0, {}, batch).Union());
}

TEST(Framing, AFrameHasATableForEachEightOfItsBytesAtMost) {
  EXPECT_TRUE(open_frame(one_column_in_many_places(10)));
  EXPECT_FALSE(open_frame(one_column_in_many_places(10'000)));
}

TEST(Framing, MessagesAreSixTablesDeepAtMost) {
  wire::WhyT why;
  why.funnels.push_back(std::make_unique<wire::FunnelT>());
  auto& steps = why.funnels.back()->steps;
  steps.push_back(std::make_unique<wire::StepT>());
  steps.back()->losses.push_back(std::make_unique<wire::LossT>());
  steps.back()->losses.back()->nearest = std::make_unique<wire::MissT>();
  const Bytes deepest = encode(5, why);
  EXPECT_TRUE(open_frame(deepest));
  for (const flatbuffers::uoffset_t depth : {5u, 6u}) {
    flatbuffers::Verifier verifier(deepest.data(), deepest.size(), depth);
    EXPECT_EQ(wire::VerifySizePrefixedMessageBuffer(verifier), depth == 6u);
  }
}

/// Feeds the stream in pieces of `step` bytes and counts the frames that come out.
int frames_cut(const Bytes& stream, std::size_t step) {
  FrameCutter cutter(kDefaultMaxFrame);
  int frames = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const auto space = cutter.space();
    const std::size_t n = std::min({step, stream.size() - at, space.size()});
    std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(at), n, space.begin());
    cutter.fill(n);
    at += n;
    for (auto frame = cutter.next(); frame && *frame; frame = cutter.next()) {
      EXPECT_TRUE(open_frame(**frame));
      ++frames;
    }
  }
  EXPECT_EQ(cutter.open(), 0u);
  return frames;
}

TEST(FrameCutter, FramesComeOutHoweverTheStreamIsCut) {
  wire::DeployT large;
  large.name = "big.tesla";
  large.text = std::string(3'000'000, ' ');
  Bytes stream;
  for (const Bytes& frame : {hello(), encode(8, large), hello(), hello()}) {
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  for (const std::size_t step : {1024u, 4099u, 1u << 20, 1u << 30}) {
    EXPECT_EQ(frames_cut(stream, step), 4) << step;
  }
  const Bytes small = hello();
  EXPECT_EQ(frames_cut(small, 1), 1);
}

TEST(FrameCutter, AnOversizeFrameIsRefusedByItsPrefixAlone) {
  FrameCutter cutter(1000);
  const Bytes prefix = {0, 16, 0, 0};
  std::copy(prefix.begin(), prefix.end(), cutter.space().begin());
  cutter.fill(prefix.size());
  const auto frame = cutter.next();
  ASSERT_FALSE(frame);
  EXPECT_THAT(frame.error().message, HasSubstr("4100 bytes is above the limit of 1000"));
}

}  // namespace
}  // namespace gorgo::protocol

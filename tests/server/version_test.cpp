#include <flatbuffers/idl.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>

#include "support.hpp"

// An older client meets this server. What it sends was recorded, and what it got then: in the order
// deploy, refused, subscribe with publish, devices, remove (tests/protocol/data/README.md).
namespace gorgo::server {
namespace {

std::string read_file(const std::string& name) {
  std::ifstream file(GORGO_RECORDED + ("/" + name), std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The frames that stand one after the other in a recording.
std::vector<protocol::Bytes> frames_in(const std::string& name) {
  const std::string bytes = read_file(name);
  std::vector<protocol::Bytes> frames;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = flatbuffers::ReadScalar<std::uint32_t>(bytes.data() + at) + protocol::kPrefix;
    frames.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
    at += size;
  }
  return frames;
}

/// Reads messages as the older client does, which knows the schema of its time.
class OldDecoder {
 public:
  OldDecoder() {
    flatbuffers::IDLOptions options;
    options.strict_json = true;
    options.size_prefixed = true;
    parser_.opts = options;
    EXPECT_TRUE(parser_.Parse(read_file("gorgo.fbs").c_str())) << parser_.error_;
  }

  std::string text(const protocol::Bytes& frame) {
    flatbuffers::Verifier verifier(frame.data() + protocol::kPrefix,
                                   frame.size() - protocol::kPrefix);
    std::string text;
    EXPECT_TRUE(flatbuffers::GenerateText(parser_, frame.data(), &text));
    return text;
  }

 private:
  flatbuffers::Parser parser_;
};

class OldClient : public testing::Test {
 protected:
  RunningServer server_;
  OldDecoder decoder_;

  void expect(RawConnection& raw, const protocol::Bytes& recorded) {
    const auto got = raw.receive();
    ASSERT_TRUE(got);
    EXPECT_EQ(decoder_.text(*got), decoder_.text(recorded));
  }
  /// Replays a whole connection.
  void replay(const std::string& name) {
    RawConnection raw(server_->address());
    for (const auto& frame : frames_in(name + ".sent")) raw.send(frame);
    for (const auto& frame : frames_in(name + ".received")) expect(raw, frame);
    raw.close();
  }
};

TEST_F(OldClient, GetsWhatItAlwaysGot) {
  replay("deploy");
  replay("refused");
  RawConnection subscriber(server_->address());
  for (const auto& frame : frames_in("subscribe.sent")) subscriber.send(frame);
  const auto received = frames_in("subscribe.received");
  constexpr std::size_t kReplies = 4;  // Welcome, and an Ack for each of three subscriptions
  ASSERT_GT(received.size(), kReplies);
  for (std::size_t i = 0; i < kReplies; ++i) expect(subscriber, received[i]);
  replay("publish");
  for (std::size_t i = kReplies; i < received.size(); ++i) expect(subscriber, received[i]);
  replay("devices");
  replay("remove");
}

TEST_F(OldClient, CannotAskForAVersionThatNobodySpeaks) {
  RawConnection raw(server_->address());
  wire::HelloT hello;
  hello.min_version = hello.max_version = protocol::kVersion + 1;
  raw.send(1, hello);
  EXPECT_EQ(raw.expect<wire::Error>(1).code, wire::ErrorCode::Version);
}

TEST_F(OldClient, AgreesWithANewerServerOnTheHighestCommonVersion) {
  RawConnection raw(server_->address());
  wire::HelloT hello;
  hello.min_version = protocol::kVersion;
  hello.max_version = protocol::kVersion + 7;
  raw.send(1, hello);
  EXPECT_EQ(raw.expect<wire::Welcome>(1).version, protocol::kVersion);
}

}  // namespace
}  // namespace gorgo::server

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cstdlib>
#include <thread>
#include <vector>

#include "broker_cluster.hpp"

// Two publishers name the same last message at the same moment, in a stream of three copies, round
// after round. What this version of the broker makes of it is printed;
// docs/decisions/0047-cluster.md has what was seen.
namespace gorgo::cluster_test {
namespace {

int rounds() {
  const char* given = std::getenv("GORGO_ROUNDS");
  return given == nullptr ? 10'000 : std::atoi(given);
}

/// What a publication expects of the stream.
enum class Expects { stream_sequence, subject_sequence, no_message };

struct Outcome {
  int one = 0, both = 0, none = 0, unknown = 0;
};

/// One of the two, with a connection of its own.
class Publisher {
 public:
  Publisher(const BrokerCluster& brokers, std::size_t server)
      : connection_(brokers.connect(brokers.address(server))) {
    jsCtx* made = nullptr;
    EXPECT_EQ(natsConnection_JetStream(&made, connection_.get(), nullptr), NATS_OK);
    context_.reset(made);
  }
  jsCtx* context() { return context_.get(); }
  /// The sequence that the message got; 0: it was refused.
  std::uint64_t publish(const std::string& subject, Expects expects, std::uint64_t last) {
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MaxWait = 5000;
    if (expects == Expects::stream_sequence) options.ExpectLastSeq = last;
    if (expects == Expects::subject_sequence) options.ExpectLastSubjectSeq = last;
    options.ExpectNoMessage = expects == Expects::no_message;
    jsPubAck* got = nullptr;
    jsErrCode code = static_cast<jsErrCode>(0);
    const auto status = js_Publish(&got, context_.get(), subject.c_str(), "x", 1, &options, &code);
    const std::uint64_t sequence = got == nullptr ? 0 : got->Sequence;
    jsPubAck_Destroy(got);
    is_known = status == NATS_OK || code != 0;
    return sequence;
  }
  bool is_known = true;

 private:
  Owned<natsConnection> connection_;
  Owned<jsCtx> context_;
};

class TwoPublishers : public testing::Test {
 protected:
  const Folder folder{"two_publishers"};
  BrokerCluster brokers{folder};
  Publisher first{brokers, 0}, second{brokers, 1};

  void SetUp() override {
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    const char* subject = "race.>";
    config.Name = "RACE";
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    config.Replicas = 3;
    ASSERT_EQ(js_AddStream(nullptr, first.context(), &config, nullptr, nullptr), NATS_OK);
  }
  Outcome race(Expects expects) {
    Outcome outcome;
    std::uint64_t last = first.publish("race.a", Expects::stream_sequence, 0);
    std::array<std::uint64_t, 2> got{};
    std::barrier begins(2), ends(2);
    const int count = rounds();
    const auto run = [&](int number, Publisher& publisher) {
      for (int i = 0; i < count; ++i) {
        begins.arrive_and_wait();
        const std::string subject =
            expects == Expects::no_message ? "race.n" + std::to_string(i) : "race.a";
        const std::uint64_t expected = last;
        got[static_cast<std::size_t>(number)] = publisher.publish(subject, expects, expected);
        ends.arrive_and_wait();
        if (number == 1) continue;
        const int taken = (got[0] != 0) + (got[1] != 0);
        ++(taken == 2 ? outcome.both : taken == 1 ? outcome.one : outcome.none);
        outcome.unknown += !first.is_known || !second.is_known;
        last = std::max({last, got[0], got[1]});
      }
    };
    std::thread other(run, 1, std::ref(second));
    run(0, first);
    other.join();
    return outcome;
  }
  static void print(const char* what, const Outcome& seen) {
    std::printf("%s: %d rounds, one accepted in %d, both in %d, none in %d; no answer in %d\n",
                what, rounds(), seen.one, seen.both, seen.none, seen.unknown);
  }
};

TEST_F(TwoPublishers, TheSequenceOfTheStreamLetsOneIn) {
  const auto seen = race(Expects::stream_sequence);
  print("last sequence of the stream", seen);
  EXPECT_EQ(seen.both, 0);
  EXPECT_EQ(seen.one, rounds());
}

TEST_F(TwoPublishers, WhatTheSequenceOfASubjectDoesIsPrinted) {
  print("last sequence of a subject", race(Expects::subject_sequence));
}

TEST_F(TwoPublishers, WhatNoMessageOfASubjectDoesIsPrinted) {
  print("no message of a subject", race(Expects::no_message));
}

TEST_F(TwoPublishers, WhetherASequenceOfZeroIsCheckedIsPrinted) {
  first.publish("race.a", Expects::stream_sequence, 0);
  natsMsg* made = nullptr;
  ASSERT_EQ(natsMsg_Create(&made, "race.a", nullptr, "x", 1), NATS_OK);
  Owned<natsMsg> message(made);
  natsMsgHeader_Set(made, "Nats-Expected-Last-Sequence", "0");
  jsPubAck* got = nullptr;
  const auto status = js_PublishMsg(&got, first.context(), made, nullptr, nullptr);
  jsPubAck_Destroy(got);
  std::printf("a last sequence of 0 in a stream that has a message: %s\n",
              status == NATS_OK ? "accepted" : "refused");
}

}  // namespace
}  // namespace gorgo::cluster_test

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "broker_cluster.hpp"
#include "cluster/names.hpp"
#include "cluster/wire.hpp"
#include "codec/event_notation.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::cluster_test {

/// Both rules depend on what came before: a batch that is lost, doubled or out of order changes
/// what follows.
inline constexpr const char* kRules =
    "rule echo: define Echo(k: string, v: int) from A(k = $k) where k = $k, v = A.v;\n"
    "rule pair: define Pair(k: string, a: int, b: int)\n"
    "  from A(k = $k) and last B(k = $k) within 1 s from A\n"
    "  where k = $k, a = A.v, b = B.v consuming B;\n";

/// JetStream as the tests see it: calls try until the brokers have done it.
class Streams {
 public:
  explicit Streams(const BrokerCluster& brokers) : brokers_(brokers) {}

  void make(const std::string& name, const std::string& subjects) {
    const char* subject = subjects.c_str();
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = name.c_str();
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    config.Replicas = 3;
    until("to make " + name, [&](jsCtx* context) {
      return js_AddStream(nullptr, context, &config, nullptr, nullptr) == NATS_OK;
    });
  }
  /// At least once.
  void publish(const std::string& subject, std::string_view payload,
               const std::map<std::string, std::string>& headers) {
    until("to publish to " + subject, [&](jsCtx* context) {
      natsMsg* made = nullptr;
      natsMsg_Create(&made, subject.c_str(), nullptr, payload.data(),
                     static_cast<int>(payload.size()));
      const Owned<natsMsg> message(made);
      for (const auto& [name, value] : headers) {
        natsMsgHeader_Set(made, name.c_str(), value.c_str());
      }
      jsPubOptions options;
      jsPubOptions_Init(&options);
      options.MaxWait = 1000;
      jsPubAck* ack = nullptr;
      const auto status = js_PublishMsg(&ack, context, made, &options, nullptr);
      jsPubAck_Destroy(ack);
      return status == NATS_OK;
    });
  }
  std::uint64_t last_sequence(const std::string& stream) {
    std::uint64_t last = 0;
    until("for " + stream, [&](jsCtx* context) {
      jsStreamInfo* found = nullptr;
      if (js_GetStreamInfo(&found, context, stream.c_str(), nullptr, nullptr) != NATS_OK)
        return false;
      const Owned<jsStreamInfo> info(found);
      last = info->State.LastSeq;
      return true;
    });
    return last;
  }
  /// Removes the messages of a stream up to this sequence.
  void forget(const std::string& stream, std::uint64_t sequence) {
    jsOptions options;
    jsOptions_Init(&options);
    options.Stream.Purge.Sequence = sequence + 1;
    until("to forget messages of " + stream, [&](jsCtx* context) {
      return js_PurgeStream(context, stream.c_str(), &options, nullptr) == NATS_OK;
    });
  }
  Owned<natsMsg> message(const std::string& stream, std::uint64_t sequence) {
    natsMsg* found = nullptr;
    until("for a message of " + stream, [&](jsCtx* context) {
      return js_GetMsg(&found, context, stream.c_str(), sequence, nullptr, nullptr) == NATS_OK;
    });
    return Owned<natsMsg>(found);
  }

 private:
  const BrokerCluster& brokers_;
  Owned<natsConnection> connection_;
  Owned<jsCtx> context_;

  template <class Does>
  void until(const std::string& what, Does does) {
    const Patience patience(what);
    while (patience.lasts()) {
      if (!connection_ || natsConnection_IsClosed(connection_.get())) connect();
      if (context_ && does(context_.get())) return;
      connect();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  void connect() {
    context_.reset();
    connection_ = brokers_.connect();
    if (!connection_) return;
    jsCtx* made = nullptr;
    natsConnection_JetStream(&made, connection_.get(), nullptr);
    context_.reset(made);
  }
};

/// The gateway of a partition: publishes events to the input stream, some messages twice, and
/// knows what one processor makes of the events.
class Gateway {
 public:
  Gateway(Streams& streams, std::string cluster, std::string family, std::uint32_t partition = 0)
      : streams_(streams), subject_(cluster::input_subject(cluster, family, partition)) {
    const auto outcome = processor_.deploy("rules.tesla", kRules);
    EXPECT_FALSE(outcome.failed());
  }

  void publish_rules() {
    const cluster::RulesMessage rules{
        .version = 1, .texts = {{"rules.tesla", kRules}}, .rules = {"echo", "pair"}};
    streams_.publish(subject_, rules.to_json(), {{cluster::kRulesHeader, "1"}});
  }
  /// A message of some events.
  void publish_some() {
    BatchBuilder batch;
    std::vector<Place> places;
    for (auto left = 1 + random_() % 40; left > 0; --left) {
      const Event event{random_() % 3 == 0 ? "B" : "A",
                        clock_ += static_cast<Timestamp>(random_() % 100) * 1'000'000,
                        {{"k", std::string(1, static_cast<char>('a' + random_() % 5))},
                         {"v", static_cast<std::int64_t>(++events_)}}};
      batch.add(event);
      places.push_back({.root = events_, .ordinal = 0});
      EXPECT_TRUE(processor_.append(event));
    }
    processor_.process([&](const OutputBatch& out) {
      for (const auto& row : out.rows) {
        if (row.rule == OutputBatch::kPrimitive) continue;
        expected_.push_back(codec::notation_of(out.to_event(row)));
      }
    });
    const auto payload = cluster::encode_events(batch.batch(), places);
    const cluster::InputPlaces ends{places.front(), places.back()};
    for (int times = random_() % 10 == 0 ? 2 : 1; times > 0; --times) {
      streams_.publish(subject_, {reinterpret_cast<const char*>(payload.data()), payload.size()},
                       {{cluster::kFromHeader, "gateway"}, {cluster::kPlaceHeader, ends.text()}});
    }
  }
  const std::vector<std::string>& expected() const { return expected_; }
  std::uint64_t events() const { return events_; }

 private:
  Streams& streams_;
  const std::string subject_;
  Processor processor_;
  std::mt19937 random_{static_cast<unsigned>(getpid())};
  Timestamp clock_ = 1'000'000'000;
  std::uint64_t events_ = 0;
  std::vector<std::string> expected_;
};

/// Reads what an output stream has, and holds that its places ascend.
class Composites {
 public:
  Composites(Streams& streams, std::string stream)
      : streams_(streams), stream_(std::move(stream)) {}

  /// Reads what has come since.
  const std::vector<std::string>& read() {
    for (const std::uint64_t last = streams_.last_sequence(stream_); sequence_ < last;) {
      const auto message = streams_.message(stream_, ++sequence_);
      if (!message) break;
      take(message.get());
    }
    return seen_;
  }
  /// Waits until there are so many.
  void wait_for(std::size_t count) {
    const Patience patience("for the composites of " + stream_);
    while (read().size() < count && patience.lasts()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  /// How many of the messages each node wrote.
  const std::map<std::string, int>& writers() const { return writers_; }

 private:
  Streams& streams_;
  const std::string stream_;
  std::uint64_t sequence_ = 0;
  cluster::OutputPlace last_;
  std::vector<std::string> seen_;
  std::map<std::string, int> writers_;

  void take(natsMsg* message) {
    const char* value = nullptr;
    ASSERT_EQ(natsMsgHeader_Get(message, cluster::kPlaceHeader, &value), NATS_OK);
    const auto place = cluster::OutputPlace::parse(value);
    ASSERT_TRUE(place);
    EXPECT_GT(*place, last_) << "doubled or out of order";
    last_ = *place;
    ASSERT_EQ(natsMsgHeader_Get(message, "Gorgo-Node", &value), NATS_OK);
    ++writers_[value];
    const auto events = cluster::ReceivedEvents::decode(
        {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))});
    ASSERT_TRUE(events) << events.error().to_string();
    for (BatchCursor next(events->batch()); !next.done(); next.advance()) {
      seen_.push_back(codec::notation_of(next.to_event()));
    }
  }
};

}  // namespace gorgo::cluster_test

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "doors/door.hpp"
#include "doors/kafka/client.hpp"
#include "doors/message_reader.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::kafka {

/// Messages of topics of Kafka, each once. The position has the next offset of each partition; the
/// brokers keep none.
class KafkaSource : public Source {
 public:
  KafkaSource(const std::string& door, const Settings& settings, const Types& types,
              const Position& position);
  ~KafkaSource() override;

  Result<Arrived> poll(std::chrono::milliseconds patience) override;
  /// The position tells all, and the server keeps it.
  void committed(const Position&) override {}
  void wake() override { is_woken_ = true; }
  std::string describe(const Position& position) const override;

 private:
  using Clock = std::chrono::steady_clock;
  using Partition = std::pair<std::string, std::int32_t>;  // topic and number
  using Offsets = std::map<Partition, std::int64_t>;

  const std::string door_;
  const Settings settings_;
  MessageReader reader_;
  Trouble trouble_;
  Owned<rd_kafka_t> client_;
  Offsets next_;  // by the partitions that are known
  bool begins_;   // no partition was ever found
  Clock::time_point next_look_ = {};
  std::atomic<bool> is_woken_ = false;

  static Offsets offsets_in(const Position& position);
  Position position() const;
  Result<void> open();
  /// Finds partitions that are new, and has all of them read. True: there were some.
  Result<bool> look();
  Result<bool> look(const std::string& topic);
  Result<void> assign();
  /// Where a partition begins or ends now.
  Result<std::int64_t> edge(const Partition& partition, bool end) const;
  Result<void> take(const rd_kafka_message_t& message, Arrived& arrived);
  Result<void> read(Arrived& arrived, Clock::time_point until);
};

}  // namespace gorgo::doors::kafka

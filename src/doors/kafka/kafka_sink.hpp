#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include "doors/door.hpp"
#include "doors/kafka/client.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::kafka {

/// Produces events to topics of Kafka, each with its place in a header. Within one life of the
/// producer the brokers drop repetitions; after a crash receivers know them by the header.
class KafkaSink : public Sink {
 public:
  KafkaSink(const std::string& door, const Settings& settings);
  ~KafkaSink() override;

  Result<void> send(const Departing& events) override;
  /// Asks for the brokers until they have answered, and again when a connection is lost.
  Result<void> idle() override;
  void wake() override { is_woken_ = true; }

 private:
  const std::string door_;
  const Settings settings_;
  Trouble trouble_;
  Owned<rd_kafka_t> producer_;
  std::atomic<bool> is_woken_ = false;
  bool has_answer_ = false;  // of the brokers, since there is a producer
  std::string refused_;      // why the brokers have not taken an event; this door's thread alone

  Result<void> open();
  Result<void> produce(const Departing::Row& row);
  Result<void> await();
  /// The producer forgets what it has not sent.
  void close();
  /// Called by the library within `rd_kafka_poll` and `rd_kafka_flush`.
  static void delivered(rd_kafka_t*, const rd_kafka_message_t* message, void*);
};

}  // namespace gorgo::doors::kafka

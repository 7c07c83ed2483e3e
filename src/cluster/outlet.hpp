#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cluster/plan_store.hpp"
#include "cluster/settings.hpp"
#include "doors/door.hpp"
#include "doors/nats/stream_reader.hpp"

namespace gorgo::cluster {

/// The way of the cluster's composites to a node, where whoever subscribes gets them: it reads the
/// output streams of all partitions, each message once. The position is how far it has read each
/// of them. A node that joins a cluster begins with what comes from then on.
class Outlet : public doors::Source {
 public:
  Outlet(const Settings& settings, const doors::Position& position);
  ~Outlet() override { close(); }

  Result<doors::Arrived> poll(std::chrono::milliseconds patience) override;
  void committed(const doors::Position&) override {}
  void wake() override { connection_.wake(); }
  std::string describe(const doors::Position& position) const override;

 private:
  using Clock = std::chrono::steady_clock;
  /// How far a stream was read.
  struct Read {
    std::int64_t created = 0;
    std::uint64_t sequence = 0;
  };
  using ReadAll = std::map<std::string, Read>;  // by stream

  const std::string cluster_;
  doors::nats::Connection connection_;
  PlanStore store_;
  bool is_new_;  // it has never looked
  ReadAll read_;
  std::map<std::string, std::unique_ptr<doors::nats::StreamReader>> readers_;
  Clock::time_point next_look_ = {};  // for streams that it does not read yet
  Clock::time_point next_take_ = {};  // of what has come

  static ReadAll parse(const doors::Position& position);
  doors::Position position() const;
  Result<void> open();
  Result<void> look(doors::Arrived& arrived);
  Result<void> begin(const std::string& stream, const std::string& subject,
                     doors::Arrived& arrived);
  Result<bool> take(doors::Arrived& arrived);
  void take(const doors::nats::StreamReader::Message& message, const std::string& stream,
            doors::Arrived& arrived);
  void close();
};

}  // namespace gorgo::cluster

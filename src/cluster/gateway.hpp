#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/parcels.hpp"
#include "cluster/plan_store.hpp"
#include "cluster/sender.hpp"
#include "cluster/settings.hpp"
#include "doors/door.hpp"
#include "doors/nats/connection.hpp"

namespace gorgo::cluster {

/// The way of a node's events into the cluster: it sends those that rules of the cluster read to
/// the partitions that read them, in the order of their places, and says once a second that it is
/// there and which deployment it follows. What it sends again, after a failure or a crash, has the
/// places that it had before, by which workers leave it out.
class Gateway : public doors::ColumnSink {
 public:
  /// `journal`: the number of the journal that counts the places.
  Gateway(const Settings& settings, std::uint64_t journal);
  ~Gateway() override { connection_.close(); }

  /// Divides the events among the partitions.
  void prepare(std::span<const doors::DepartingColumns> parts) override;
  Result<void> send_columns(std::span<const doors::DepartingColumns> parts) override;
  bool is_under_way() const override { return sender_.is_under_way(); }
  Result<void> settle() override;
  /// They are divided among many partitions, and a message costs as much as hundreds of its events.
  std::size_t most_rows() const override { return 131'072; }
  /// Without these calls a deployment takes the node for dead, and partitions that wait for the
  /// clock do not hear of it.
  Result<void> idle() override;
  void wake() override { connection_.wake(); }

 private:
  using Clock = std::chrono::steady_clock;

  const std::string node_;
  const std::uint32_t replicas_;
  doors::nats::Connection connection_;
  PlanStore store_;
  Sender sender_;
  Parcels parcels_;
  std::optional<std::vector<Parcels::Round>> prepared_;
  std::uint64_t version_ = 0;  // of the deployment that it follows
  Clock::time_point next_look_ = {}, next_word_ = {};

  Result<void> open();
  Result<void> look_if_due();
  Result<void> look();
  Result<void> say_that_it_is_there();
  bool gives_up() { return connection_.was_woken(); }
  Result<void> send_rounds(std::span<const Parcels::Round> rounds);
  Result<void> tell_clock();
  Result<void> close_after(Result<void> outcome);
};

}  // namespace gorgo::cluster

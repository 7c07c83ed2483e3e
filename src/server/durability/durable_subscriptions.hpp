#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"
#include "journal/format.hpp"
#include "journal/records.hpp"
#include "server/durability/snapshot_record.hpp"
#include "server/options.hpp"
#include "server/sessions/outbox.hpp"
#include "server/subscriptions/delivery.hpp"
#include "server/subscriptions/filter.hpp"

namespace gorgo::server {

/// Subscriptions with a name, which get every event since they began until they have acknowledged
/// it, over any number of connections. One connection at a time has a subscription.
///
/// What is not acknowledged waits here, encoded, in memory; after a crash the replay of the journal
/// brings it about again. An event leaves when the records that it follows from are durable, and
/// when its client has taken most of what it was sent before: so a slow client is never
/// disconnected for what waits. An event costs a test of each filter of its type.
///
/// Belongs to the engine thread.
class DurableSubscriptions {
 public:
  /// `next_number` numbers deliveries.
  DurableSubscriptions(const Limits& limits, const JournalOptions& options,
                       std::function<std::uint64_t()> next_number);

  struct Begun {
    Result<bool> fresh;       ///< whether it did not exist before; an error: the text differs
    Diagnostics diagnostics;  ///< about the text; when they failed, nothing was done
  };
  /// Begins the subscription, unless there is one of this name and text.
  Begun begin(const std::string& name, const std::string& text, const std::string& who,
              const Schema& schema, Filter::Patterns patterns = Filter::Patterns::any);
  /// Gives it to a connection, which gets everything that is not acknowledged. Another one that has
  /// it is ended. An error: the connection has it already. Precondition: it exists.
  Result<void> attach(const std::string& name, const std::shared_ptr<Outbox>& client,
                      std::uint32_t id);
  /// The connection is over.
  void detach_all(const Outbox& client);
  /// The connection gives the subscription back. False: it has none of that id.
  bool detach(const Outbox& client, std::uint32_t id);
  /// Everything up to the place is done with. An error: there is no such subscription, or nothing
  /// as late was delivered.
  Result<void> acknowledge(const std::string& name, const Place& place);
  /// An error: there is no such subscription.
  Result<void> end(const std::string& name);
  /// Who began it; an error: there is no such subscription.
  Result<std::string> owner_of(const std::string& name) const;
  /// How many the user has begun that have not ended.
  std::size_t count_of(const std::string& who) const;
  /// Whether a connection has it.
  bool is_attached(const std::string& name) const;

  bool empty() const { return durables_.empty(); }
  /// Events that were dropped before they were acknowledged, since the start, and whose they were
  /// the last time.
  std::uint64_t dropped() const { return dropped_; }
  const std::string& last_dropped() const { return last_dropped_; }
  /// Whether a subscription says the name of the type.
  bool names(std::string_view type) const;
  /// Whether publications are refused while too much waits, see `check_room`.
  bool holds_publishers_up() const { return policy_ == BacklogPolicy::refuse; }
  /// Whether what publications bring about may wait. An error names the subscription for which too
  /// much waits already.
  Result<void> check_room() const;
  /// Keeps the events of the batch that subscriptions ask for. They follow from the records before
  /// `end`.
  void take(const OutputBatch& batch, journal::Place end);
  /// Sends what may leave: records before `durable` are durable. Returns whether anything waits for
  /// a later record.
  bool feed(journal::Place durable);

  /// All of it but what waits, and what waits, as records of a snapshot.
  std::vector<std::unique_ptr<journal::stored::DurableStateT>> save() const;
  std::deque<SnapshotRecord> chunks() const;
  /// Brings back what was saved. Precondition: there is no subscription yet. An error: a text is
  /// refused.
  Result<void> restore(const std::vector<std::unique_ptr<journal::stored::DurableStateT>>& durables,
                       const Schema& schema);
  /// The next of `chunks`. An error: it is damaged.
  Result<void> restore_chunk(journal::Bytes record);

  std::vector<wire::DurableInfoT> list() const;
  std::uint64_t rows() const;
  std::size_t bytes() const;

 private:
  /// Some events, as one delivery.
  struct Chunk {
    std::shared_ptr<const SharedDelivery> shared;
    journal::Place end;  ///< it follows from the records before
    Gap lost;            ///< before its events that are left
    /// So many of its events went; they are the first ones, and the last of `lost`.
    std::uint32_t gone = 0;

    Place last() const { return shared->place(shared->rows() - 1); }
    std::uint32_t left() const { return shared->rows() - gone; }
    /// Bytes that count for the events that are left: their part of the delivery.
    std::size_t bytes() const { return shared->bytes() * left() / shared->rows(); }
  };
  struct Durable {
    std::string name, text, who;
    Filter filter;
    Place acknowledged = {};
    Place last = {};            ///< of what was ever kept for it
    std::deque<Chunk> backlog;  ///< not acknowledged as a whole
    std::size_t sent = 0;       ///< chunks that the connection has got
    std::size_t bytes = 0;      ///< of the backlog
    Gap lost = {};              ///< behind the backlog, or before it where `sent` chunks were lost
    std::uint64_t all_lost = 0;
    std::shared_ptr<Outbox> client = nullptr;  ///< null: nobody has it
    SubscriptionIds ids = nullptr;
  };

  const Limits limits_;
  std::uint64_t dropped_ = 0;
  std::string last_dropped_;  // the name of a subscription
  const std::size_t backlog_bytes_;
  const BacklogPolicy policy_;
  const std::function<std::uint64_t()> next_number_;
  MemoryBudget memory_;
  std::map<std::string, Durable> durables_;  // by name
  std::vector<DeliveredRow> rows_;           // of the batch in hand

  Durable* find(const std::string& name);
  void take(const OutputBatch& batch, journal::Place end, Durable& durable);
  void keep(Durable& durable, EncodedDelivery encoded, journal::Place end);
  void drop_beyond_bound(Durable& durable);
  void drop(Durable& durable, Chunk& chunk, std::uint32_t rows);
  static void let_go(Durable& durable);
  static ClientDelivery delivery_of(const Durable& durable, const Chunk& chunk);
};

}  // namespace gorgo::server

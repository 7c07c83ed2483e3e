#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gorgo/processor.hpp"
#include "server/delivery.hpp"
#include "server/filter_index.hpp"
#include "server/outbox.hpp"

namespace gorgo::server {

/// Knows who gets which events. An event costs what the filters cost that it matches, or nearly so
/// (`FilterIndex`); a batch is encoded once for all clients that have the same subscriptions. The
/// outbox of a subscriber tells it how many events it does not get.
class Subscriptions {
 public:
  /// Called when `rows` for a subscriber are too large for a frame.
  using OnOversize = std::function<void(const Outbox&, std::size_t rows)>;

  Subscriptions(const Limits& limits, OnOversize on_oversize);

  struct Added {
    Result<void> subscribed;  ///< an error: the id is taken, or a limit is reached
    Diagnostics diagnostics;  ///< about the text
  };
  Added add(const std::shared_ptr<Outbox>& client, std::uint32_t id, const std::string& text,
            const Schema& schema);
  /// False: the client has no subscription of that id.
  bool remove(const Outbox& client, std::uint32_t id);
  void remove_all(const Outbox& client);

  /// Queues the batch's events for everyone who asked for them, in place order for each client.
  /// Returns how many were queued, counted for each client.
  std::uint64_t deliver(const OutputBatch& batch);

  /// The number of distinct texts.
  std::size_t texts() const { return by_text_.size(); }
  /// Rows that no frame could hold, counted for each client.
  std::uint64_t oversize() const { return oversize_; }

 private:
  struct Group;
  /// A text that somebody subscribes to.
  struct Entry {
    const std::string text;
    Filter filter;
    std::size_t uses = 0;                      ///< by subscriptions
    boost::unordered_flat_set<Group*> groups;  ///< those that it belongs to
    std::vector<std::uint32_t> rows;           ///< of the batch in hand
  };
  struct Subscriber {
    std::shared_ptr<Outbox> outbox;
    std::vector<std::uint32_t> ids;  // in the order of subscribing; `entries` has the same order
    std::vector<Entry*> entries;
    Group* group = nullptr;  // null: its subscriptions have changed
  };
  /// The clients that have the same subscriptions, in the same order.
  struct Group {
    std::vector<Entry*> entries;
    boost::unordered_flat_set<const Subscriber*> members;
    bool is_due = false;  ///< the batch in hand has something for it
  };
  /// The texts for one event type. Those without a use stay until they take much.
  struct TypeEntries {
    FilterIndex<Entry> index;
    std::vector<std::unique_ptr<Entry>> entries;
    std::size_t bytes = 0, unused_bytes = 0;
  };

  const Limits limits_;
  const OnOversize on_oversize_;
  std::unordered_map<std::string, TypeEntries> by_type_;  // of the filters, "*" included
  std::unordered_map<std::string_view, Entry*> by_text_;  // those in use; keys lie in the entries
  std::unordered_map<std::uint64_t, Subscriber> subscribers_;  // by Outbox::id
  std::map<std::vector<Entry*>, Group> groups_;
  boost::unordered_flat_set<Subscriber*> ungrouped_;
  std::uint64_t oversize_ = 0;

  // The members below are about the batch in hand.
  std::vector<Entry*> matched_;
  std::vector<Group*> due_;

  Result<void> check(const Outbox& client, std::uint32_t id, const std::string& text) const;
  Entry& entry_of(const std::string& text, Filter filter);
  void release(Entry& entry);
  void drop_unused(TypeEntries& of_type);
  /// Takes the subscriber out of its group, because its subscriptions change.
  void leave_group(Subscriber& subscriber);
  void join_groups();
  void match(const OutputBatch& batch);
  void match(const OutputBatch& batch, std::uint32_t row, TypeEntries* of_type);
  TypeEntries* entries_for(const std::string& type);
  std::uint64_t send(const OutputBatch& batch, const Group& group);
  std::uint64_t send(const DeliveryFrame& frame, const Subscriber& subscriber);
};

}  // namespace gorgo::server

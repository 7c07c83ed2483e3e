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
#include "server/sessions/outbox.hpp"
#include "server/subscriptions/delivery.hpp"
#include "server/subscriptions/filter_index.hpp"

namespace gorgo::server {

/// Knows who gets which events. An event costs what the filters cost that it matches, or nearly so
/// (`FilterIndex`); a batch is encoded once for all clients that have the same subscriptions. The
/// outbox of a subscriber tells it how many events it does not get.
class Subscriptions {
 public:
  /// Called when `rows` for a subscriber are too large for a frame.
  using OnOversize = std::function<void(const Outbox&, std::size_t rows)>;
  /// How a client wants to get the events of a subscription.
  struct Manner {
    SlowConsumer slow = SlowConsumer::disconnect;
    Credit credit = {};
    Filter::Patterns patterns = Filter::Patterns::any;
  };

  /// `memory` must outlive it and every outbox that it delivers to.
  Subscriptions(const Limits& limits, MemoryBudget& memory, OnOversize on_oversize);

  struct Added {
    Result<void> subscribed;  ///< an error: the id is taken, or a limit is reached
    Diagnostics diagnostics;  ///< about the text
  };
  Added add(const std::shared_ptr<Outbox>& client, std::uint32_t id, const std::string& text,
            const Manner& manner, const Schema& schema);
  /// False: the client has no subscription of that id.
  bool remove(const Outbox& client, std::uint32_t id);
  void remove_all(const Outbox& client);

  /// Queues the batch's events for everyone who asked for them, in place order for each client, but
  /// for its subscriptions with credit, each of which has an order of its own. Waits for clients
  /// that want publishers to wait, `Limits::block` at most for those of a frame together.
  /// Returns how many were queued, counted for each client. Clients are told of events that there
  /// is no memory for as lost, or, where not even that can be found out, all of them are
  /// disconnected.
  std::uint64_t deliver(const OutputBatch& batch);

  /// For a delivery that others make.
  std::uint64_t next_number() { return ++deliveries_; }
  /// Whether somebody gets events of the type.
  bool wants(const std::string& type) const;
  /// Whether a subscription says the name of the type, so that `*` is not enough.
  bool names(const std::string& type) const;
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
  /// A subscribed text, and what becomes of its deliveries when the subscriber is slow.
  struct Wanted {
    Entry* entry;
    SlowConsumer slow;

    friend auto operator<=>(const Wanted&, const Wanted&) = default;
  };
  /// The subscriptions of a client whose deliveries share an order: all that need no credit, or one
  /// that does.
  struct Subscriber {
    std::shared_ptr<Outbox> outbox;
    bool credited = false;
    std::vector<std::uint32_t> ids = {};  // in the order of subscribing, like `wanted`
    std::vector<Wanted> wanted = {};
    Group* group = nullptr;                // null: its subscriptions have changed
    SubscriptionIds shared_ids = nullptr;  // `ids` for its deliveries
  };
  using Client = std::vector<std::unique_ptr<Subscriber>>;
  /// The subscribers that have the same subscriptions, in the same order.
  struct Group {
    std::vector<Wanted> wanted;
    boost::unordered_flat_set<const Subscriber*> members;
    bool is_due = false;  ///< the batch in hand has something for it
  };
  /// The texts for one event type or one action. Those without a use stay until they take much.
  struct SubjectEntries {
    FilterIndex<Entry> index;
    std::vector<std::unique_ptr<Entry>> entries;
    std::size_t bytes = 0, unused_bytes = 0;
  };

  const Limits limits_;
  MemoryBudget& memory_;
  const OnOversize on_oversize_;
  std::unordered_map<std::string, SubjectEntries> by_subject_;  // of the filters, "*" included
  std::unordered_map<std::string_view, Entry*> by_text_;  // those in use; keys lie in the entries
  std::unordered_map<std::uint64_t, Client> clients_;     // by Outbox::id
  std::map<std::vector<Wanted>, Group> groups_;
  boost::unordered_flat_set<Subscriber*> ungrouped_;
  std::uint64_t oversize_ = 0;
  std::uint64_t deliveries_ = 0;  // encoded so far

  // The members below are about the batch in hand.
  std::vector<Entry*> matched_;
  std::vector<Group*> due_;
  std::vector<DeliveredRow> rows_;       // for the group in hand
  std::vector<const Subscriber*> full_;  // those that publishers wait for

  Result<void> check(const Outbox& client, std::uint32_t id, const std::string& text) const;
  Entry& entry_of(const std::string& text, Filter filter);
  void release(Entry& entry);
  void drop_unused(SubjectEntries& about);
  /// Takes the subscriber out of its group, because its subscriptions change.
  void leave_group(Subscriber& subscriber);
  Subscriber& subscriber_for(const std::shared_ptr<Outbox>& client, const Credit& credit);
  /// Takes it away with all its subscriptions.
  void erase(Client& client, Client::iterator subscriber);
  void join_groups();
  void match(const OutputBatch& batch);
  void match(const OutputBatch& batch, std::uint32_t row, SubjectEntries* about);
  SubjectEntries* entries_about(const std::string& subject);
  /// Finds the groups that get something of the batch.
  void find_due(const OutputBatch& batch);
  /// Disconnects every subscriber, with a reason.
  void end_all() noexcept;
  std::uint64_t send(const OutputBatch& batch, const Group& group);
  std::uint64_t send(EncodedDelivery encoded, SlowConsumer slow, const Group& group);
  void lose(const Gap& rows, const Group& group);
};

}  // namespace gorgo::server

#pragma once

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
#include "server/filter.hpp"
#include "server/outbox.hpp"

namespace gorgo::server {

/// Knows who gets which events. Evaluates each distinct text once per event of its type. The outbox
/// of a subscriber tells it how many events it does not get.
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
  struct Entry {
    const std::string text;
    Filter filter;
    std::vector<std::uint32_t> rows;  // of the batch in hand
  };
  struct Subscriber {
    std::shared_ptr<Outbox> outbox;
    std::vector<std::uint32_t> ids;  // in the order of subscribing; `entries` has the same order
    std::vector<std::shared_ptr<Entry>> entries;
  };
  using Group = std::vector<const Subscriber*>;

  const Limits limits_;
  const OnOversize on_oversize_;
  std::unordered_map<std::string_view, std::weak_ptr<Entry>> by_text_;  // keys refer to entries
  std::map<std::uint64_t, Subscriber> subscribers_;                     // by Outbox::id
  std::uint64_t oversize_ = 0;

  // Derived from the subscribers, rebuilt after a change.
  bool stale_ = false;
  std::unordered_map<std::string, std::vector<Entry*>> by_type_;
  std::map<std::vector<Entry*>, Group> groups_;

  Result<void> check(const Outbox& client, std::uint32_t id, const std::string& text) const;
  /// Drops a subscriber's reference to a text; the text is forgotten with the last one.
  void release(std::shared_ptr<Entry> entry);
  void rebuild();
  void match(const OutputBatch& batch);
  std::uint64_t send(const OutputBatch& batch, const std::vector<Entry*>& entries,
                     const Group& group);
  std::uint64_t send(const DeliveryFrame& frame, const Subscriber& subscriber);
};

}  // namespace gorgo::server

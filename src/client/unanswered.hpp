#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "client/connection.hpp"
#include "gorgo/client.hpp"

namespace gorgo::client {

/// What became of some events so far.
struct Tally {
  Published published = {};
  std::size_t sent = 0;             // events
  std::size_t waiting = 0;          // messages without an answer
  std::optional<Error> doubt = {};  // why it will never be known of some
};
using TallyPointer = std::shared_ptr<Tally>;

/// A message without an answer.
struct Pending {
  std::uint64_t id;
  std::uint64_t sequence;
  Frame frame;
  TallyPointer tally;
  std::size_t first;  // event, in the tally
  std::size_t count;
  bool is_put_off = false;  // the server had no room for it or one before, and did nothing
};

/// The messages of a publisher without an answer, by ascending ids.
class Unanswered {
 public:
  bool empty() const { return all_.empty(); }
  /// How many bytes their frames have.
  std::size_t bytes() const { return bytes_; }
  const std::deque<Pending>& all() const { return all_; }

  void add(Pending message) {
    bytes_ += message.frame->size();
    ++message.tally->waiting;
    all_.push_back(std::move(message));
  }
  Pending* find(std::uint64_t id) {
    const auto found = std::ranges::lower_bound(all_, id, {}, &Pending::id);
    return found == all_.end() || found->id != id ? nullptr : &*found;
  }
  /// Takes a message out, which has an answer or is to get another number.
  Pending take(std::uint64_t id) {
    const auto found = std::ranges::lower_bound(all_, id, {}, &Pending::id);
    Pending message = std::move(*found);
    all_.erase(found);
    bytes_ -= message.frame->size();
    --message.tally->waiting;
    if (message.is_put_off) --put_off_;
    return message;
  }

  void put_off(Pending& message) {
    if (!message.is_put_off) ++put_off_;
    message.is_put_off = true;
  }
  /// Whether the server had no room for some.
  bool has_put_off() const { return put_off_ > 0; }
  /// Whether none of them is under way.
  bool are_all_put_off() const { return put_off_ > 0 && put_off_ == all_.size(); }
  /// The ids of those before this one that were put off.
  std::vector<std::uint64_t> put_off_before(std::uint64_t id) const {
    std::vector<std::uint64_t> ids;
    if (put_off_ == 0) return ids;
    for (const Pending& message : all_) {
      if (message.id < id && message.is_put_off) ids.push_back(message.id);
    }
    return ids;
  }
  /// The first `count` of all messages are sent again.
  void call_in(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (all_[i].is_put_off) --put_off_;
      all_[i].is_put_off = false;
    }
  }

 private:
  std::deque<Pending> all_;
  std::size_t bytes_ = 0;
  std::size_t put_off_ = 0;
};

}  // namespace gorgo::client

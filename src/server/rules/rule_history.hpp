#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "gorgo/value.hpp"
#include "protocol/framing.hpp"
#include "server/security/user.hpp"

namespace gorgo::server {

/// The latest changes of rules, so that people see who changed what, and can go back. One thread.
class RuleHistory {
 public:
  static constexpr std::size_t kMostEntries = 1000;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;  ///< of texts
  static constexpr std::size_t kLongest = std::size_t{4} << 20;     ///< longer texts are left out

  struct Entry {
    std::uint64_t number = 0;  ///< counts all changes
    Timestamp clock = 0;
    std::string who;              ///< the user; empty: nobody was asked
    std::string name;             ///< of the deployment, or of the rule that was removed
    std::string text;             ///< empty: the rule was removed
    bool file = false;            ///< a rule file of the server's
    std::string deployment = {};  ///< that a removed rule was in, where that is known
  };

  /// Notes a change and numbers it. When there are too many, the oldest one is forgotten of whoever
  /// has made most, or has the longest texts, so that nobody can have the changes of others
  /// forgotten.
  void note(Entry entry) {
    entry.number = ++number_;
    if (entry.text.size() <= kLongest) restore(std::move(entry));
  }
  /// Takes over a change that has its number.
  void restore(Entry entry) {
    number_ = entry.number;
    bytes_ += entry.text.size();
    Share& share = shares_[entry.who];
    ++share.entries;
    share.bytes += entry.text.size();
    entries_.push_back(std::move(entry));
    while (entries_.size() > kMostEntries) forget_of(largest(&Share::entries));
    while (bytes_ > kMostBytes && entries_.size() > 1) forget_of(largest(&Share::bytes));
  }
  /// In their order.
  const std::deque<Entry>& entries() const { return entries_; }

 private:
  /// What somebody has of the history.
  struct Share {
    std::size_t entries = 0;
    std::size_t bytes = 0;
  };

  std::deque<Entry> entries_;
  std::map<std::string, Share> shares_;  // by whom; none is without entries
  std::size_t bytes_ = 0;
  std::uint64_t number_ = 0;

  /// Who has the largest share.
  std::string largest(std::size_t Share::*part) const {
    return std::ranges::max_element(shares_, {},
                                    [part](const auto& one) { return one.second.*part; })
        ->first;
  }
  void forget_of(const std::string& who) {
    const auto oldest = std::ranges::find(entries_, who, &Entry::who);
    Share& share = shares_[who];
    bytes_ -= oldest->text.size();
    share.bytes -= oldest->text.size();
    if (--share.entries == 0) shares_.erase(who);
    entries_.erase(oldest);
  }
};

/// The entry as a table of the journal or of the wire.
template <class Table>
std::unique_ptr<Table> as_table(const RuleHistory::Entry& entry) {
  auto table = std::make_unique<Table>();
  table->number = entry.number;
  table->clock = entry.clock;
  table->who = entry.who;
  table->name = entry.name;
  table->text = entry.text;
  table->file = entry.file;
  return table;
}

/// Answers an AskHistory: the changes that the user may see, as many as a frame should carry.
/// `user`: null: all.
protocol::Bytes history_reply(std::uint64_t id, const RuleHistory& history, const User* user,
                              const wire::AskHistory& request);

}  // namespace gorgo::server

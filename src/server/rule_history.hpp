#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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
    std::string who;    ///< the user; empty: nobody was asked
    std::string name;   ///< of the deployment, or of the rule that was removed
    std::string text;   ///< empty: the rule was removed
    bool file = false;  ///< a rule file of the server's
  };

  /// Notes a change and numbers it. The oldest changes are forgotten when there are too many.
  void note(Entry entry) {
    entry.number = ++number_;
    if (entry.text.size() <= kLongest) restore(std::move(entry));
  }
  /// Takes over a change that has its number.
  void restore(Entry entry) {
    number_ = entry.number;
    bytes_ += entry.text.size();
    entries_.push_back(std::move(entry));
    while (entries_.size() > kMostEntries || (bytes_ > kMostBytes && entries_.size() > 1)) {
      bytes_ -= entries_.front().text.size();
      entries_.pop_front();
    }
  }
  /// In their order.
  const std::deque<Entry>& entries() const { return entries_; }

 private:
  std::deque<Entry> entries_;
  std::size_t bytes_ = 0;
  std::uint64_t number_ = 0;
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

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "journal/journal.hpp"

namespace gorgo::journal {

/// Makes records durable on a thread of its own, and never syncs without need: whatever is asked
/// for during a sync shares the next one. Any thread.
class Committer {
 public:
  /// Called on the committer's thread after each sync with the journal's `durable()`, or once with
  /// the error that ended the journal.
  using Notify = std::function<void(const Result<Place>& durable)>;

  /// The journal outlives the committer.
  explicit Committer(Journal& journal, Notify notify = {});
  /// Ends the thread after the sync in hand. What was asked for behind it is not synced.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// The record of this place, which was appended, is to become durable.
  void request(Place place);
  /// Requests that and waits until the record is durable. An error: the journal failed, or the
  /// committer ends.
  Result<void> wait(Place place);

 private:
  void run();

  Journal& journal_;
  const Notify notify_;
  std::mutex mutex_;
  std::condition_variable asked_, done_;
  Place wanted_ = 0;
  Place durable_;
  bool stopping_ = false;
  std::optional<Error> failure_;
  std::thread thread_;  ///< last, because it uses the others
};

}  // namespace gorgo::journal

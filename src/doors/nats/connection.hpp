#pragma once

#include <nats/nats.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "doors/settings.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::doors::nats {

/// Gives back what the library has handed out.
struct Destroy {
  void operator()(natsConnection* one) const { natsConnection_Destroy(one); }
  void operator()(natsOptions* one) const { natsOptions_Destroy(one); }
  void operator()(natsSubscription* one) const { natsSubscription_Destroy(one); }
  void operator()(natsMsg* one) const { natsMsg_Destroy(one); }
  void operator()(jsCtx* one) const { jsCtx_Destroy(one); }
  void operator()(jsStreamInfo* one) const { jsStreamInfo_Destroy(one); }
  void operator()(jsMsgMetaData* one) const { jsMsgMetaData_Destroy(one); }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

/// Within which a server answers.
inline constexpr std::chrono::milliseconds kAnswer{5000};
/// Calls of the library that wait cannot be woken, so they wait in steps.
inline constexpr std::chrono::milliseconds kStep{50};

/// What the library says went wrong, for people.
Error failed(const std::string& what, natsStatus status);

/// A connection to a NATS server or a cluster of them. A lost one stays lost until it is opened
/// again, so that nobody takes what comes behind a gap for what comes next. One thread calls, but
/// for `wake`.
class Connection {
 public:
  /// `name`: by which servers show it.
  Connection(const Settings& settings, std::string name);

  /// Opens it, unless it is open. True: it is new.
  Result<bool> open();
  /// To be called before what was made with the connection is freed: the reading thread of the
  /// library may crash or hang when a message comes for a subscription that is being freed.
  void close();
  natsConnection* get() const { return connection_.get(); }
  /// Has a call that waits return soon. Any thread.
  void wake() { woken_ = true; }
  /// Whether somebody has called `wake` since this was last asked.
  bool was_woken() { return woken_.exchange(false); }

 private:
  const Settings settings_;
  const std::string name_;
  Owned<natsConnection> connection_;
  std::future<Result<Owned<natsConnection>>> coming_;  // valid: an attempt goes on
  std::atomic<bool> woken_ = false;

  Result<Owned<natsOptions>> options() const;
  /// Begins an attempt to connect.
  Result<void> begin();
};

}  // namespace gorgo::doors::nats

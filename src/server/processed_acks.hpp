#pragma once

#include <map>
#include <memory>
#include <utility>

#include "gorgo/processor.hpp"
#include "server/outbox.hpp"

namespace gorgo::server {

/// Acks that promise that composites are on their way. They wait until what was accepted is
/// evaluated: events that lateness holds back are evaluated when they are released. Belongs to the
/// engine thread.
class ProcessedAcks {
 public:
  /// `last` is the largest timestamp of the publication.
  void add(std::shared_ptr<Outbox> client, protocol::Bytes ack, Timestamp last) {
    waiting_.emplace(last, std::pair(std::move(client), std::move(ack)));
  }

  /// Sends those whose events are evaluated. Precondition: nothing is pending.
  void send(const Processor& processor) {
    if (waiting_.empty()) return;
    const bool all = processor.held() == 0;
    const auto clock = processor.clock();
    while (!waiting_.empty() && (all || (clock && waiting_.begin()->first <= *clock))) {
      auto first = waiting_.extract(waiting_.begin());
      first.mapped().first->reply(std::move(first.mapped().second));
    }
  }

 private:
  std::multimap<Timestamp, std::pair<std::shared_ptr<Outbox>, protocol::Bytes>> waiting_;
};

}  // namespace gorgo::server

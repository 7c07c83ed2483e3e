#pragma once

#include <memory>
#include <utility>

#include "server/engine/until_evaluated.hpp"
#include "server/sessions/outbox.hpp"

namespace gorgo::server {

/// Acks that promise that composites are on their way. They wait until what was accepted is
/// evaluated. Belongs to the engine thread.
class ProcessedAcks {
 public:
  /// `last` is the largest timestamp of the publication.
  void add(std::shared_ptr<Outbox> client, protocol::Bytes ack, Timestamp last) {
    Outbox& owing = *client;
    waiting_.add(last, {std::move(client), std::move(ack)});
    owing.owe();
  }

  /// Calls `reply(client, ack)` for those whose events are evaluated. Precondition: nothing is
  /// pending.
  template <class Reply>
  void send(const Processor& processor, Reply reply) {
    waiting_.settle(processor, [&](Waiting ready) {
      reply(ready.client, std::move(ready.ack));
      ready.client->paid();
    });
  }

 private:
  struct Waiting {
    std::shared_ptr<Outbox> client;
    protocol::Bytes ack;
  };

  UntilEvaluated<Waiting> waiting_;
};

}  // namespace gorgo::server

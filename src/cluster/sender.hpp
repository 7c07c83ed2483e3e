#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "doors/nats/connection.hpp"
#include "protocol/framing.hpp"

namespace gorgo::cluster {

/// A message for a subject of a stream.
struct StreamMessage {
  std::string subject;
  std::vector<std::pair<std::string, std::string>> headers;
  protocol::Bytes payload;
};

/// Publishes messages to streams and waits for their answers. One thread.
class Sender {
 public:
  /// To be called for each new connection, which must outlive what is sent over it.
  Result<void> open(natsConnection* connection);
  void close();

  /// Publishes all of them at once and returns when streams have them all. Messages of different
  /// streams are stored in any order. An error: it is not known of any of them, or `gives_up` said
  /// so, which is asked now and then; then `open` comes before the next call.
  Result<void> send(const std::vector<StreamMessage>& messages,
                    const std::function<bool()>& gives_up);

 private:
  natsConnection* connection_ = nullptr;
  std::string inbox_;
  doors::nats::Owned<natsSubscription> answers_;

  Result<void> publish(const StreamMessage& message, std::size_t number);
  std::string subject_of(natsMsg* answer, const std::vector<StreamMessage>& messages) const;
  Result<void> await(const std::vector<StreamMessage>& messages,
                     const std::function<bool()>& gives_up);
};

}  // namespace gorgo::cluster

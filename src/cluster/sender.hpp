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

  /// Publishes all of them at once. Messages of different streams are stored in any order.
  /// Precondition: nothing is under way. An error of this or of `await`: it is not known of any
  /// message whether its stream has it, and `open` comes before the next call.
  Result<void> publish(const std::vector<StreamMessage>& messages);
  bool is_under_way() const { return !subjects_.empty(); }
  /// Returns when streams have all that is under way, or with an error when `gives_up` says so,
  /// which is asked now and then.
  Result<void> await(const std::function<bool()>& gives_up);
  /// Both.
  Result<void> send(const std::vector<StreamMessage>& messages,
                    const std::function<bool()>& gives_up);

 private:
  natsConnection* connection_ = nullptr;
  std::string inbox_;
  doors::nats::Owned<natsSubscription> answers_;
  std::vector<std::string> subjects_;  // of the messages under way, by number

  Result<void> publish(const StreamMessage& message, std::size_t number);
  std::string subject_of(natsMsg* answer) const;
};

}  // namespace gorgo::cluster

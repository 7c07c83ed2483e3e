#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "client/link.hpp"
#include "client/publication.hpp"
#include "client/unanswered.hpp"
#include "gorgo/publisher.hpp"

namespace gorgo::client {

/// Numbers messages, keeps them until their outcome is known, and sends them again where it is not.
/// The numbers rise in the order in which messages are sent on every connection. So the server
/// applies each once, however often it comes.
class Sender : public Link::User {
 public:
  Sender(boost::asio::io_context& io, const std::string& address, const PublisherOptions& given);

  const PublisherOptions options;
  Link link;
  Unanswered unanswered;

  /// Sends events in as many messages as it takes, behind those that the tally counts already.
  Result<void> post(const EventBatch& batch, const TallyPointer& tally);
  Result<void> post(std::span<const Event> events, const TallyPointer& tally);
  void post_tick(Timestamp timestamp, const TallyPointer& tally);

 protected:
  /// Why the server would not take the events beside this one, either. `number`: of the event.
  std::optional<Error> problem_of(const Event& event, std::size_t number) const {
    return client::problem_of(event, number, limits_);
  }
  /// Why messages have no answer yet, as far as the server has said so.
  Error why_unanswered(std::string hint) const;
  /// Every message has its outcome, so that what was held back to be sent together may go.
  virtual void idle() = 0;

 private:
  std::uint64_t producer_;
  std::uint64_t sequence_;
  std::uint64_t last_id_ = std::uint64_t{1} << 32;  // above those of the connections
  BatchLimits limits_;
  bool is_retrying_ = false;     // what was put off
  std::string put_off_because_;  // empty: it has taken something since
  /// So many of what was put off were sent at once when the server last had room for all of those.
  std::size_t together_ = 0;

  // What the link asks of its user.
  Coroutine<Result<void>> begin(Connection& connection) override;
  void reconnected(Duration, std::uint64_t) override {}
  void disconnected(const Error&) override {}
  void take(DeliveredBatch, const Lost&) override {}
  bool has_room() const override { return true; }
  void take_reply(const wire::Message& reply) override;

  void send(Pending message);
  void take_error(Pending& message, const wire::Message& reply);
  void finish(std::uint64_t id);
  void overtake(std::uint64_t id, bool by_duplicate);
  void renumber(std::uint64_t id);
  void retry_later();
  Coroutine<> retry();
  void send_put_off();
};

}  // namespace gorgo::client

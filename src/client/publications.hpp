#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/connection.hpp"
#include "client/publication.hpp"
#include "gorgo/client.hpp"

namespace gorgo::client {

/// Publishes on one connection: numbers what is sent, and says what became of it. What nobody asked
/// to have acknowledged is counted where the server refuses it.
class Publications {
 public:
  /// `connection` must outlive it.
  Publications(Connection& connection, std::uint64_t producer);

  Result<Published> publish(std::span<const Event> events, const PublishOptions& options);
  Result<Published> publish(const EventBatch& batch, const PublishOptions& options);
  /// A reply that nobody waits for.
  void take_reply(const wire::Message& reply);
  const Published& unacknowledged() const { return unacknowledged_; }

 private:
  /// One call of `publish`.
  struct Call {
    const PublishOptions& options;
    std::size_t events;     ///< of all pieces
    std::size_t first = 0;  ///< that was not sent yet
    Published published = {};
    std::vector<Piece> sent = {};  ///< whose acknowledgements are due
  };

  Connection& connection_;
  const bool is_random_;  ///< the producer, which therefore has published nothing before
  const std::uint64_t producer_;
  std::optional<std::uint64_t> sequence_;  ///< the last one
  Published unacknowledged_;

  /// Sends a batch in as many pieces as it takes.
  Result<void> send(const EventBatch& batch, Call& call);
  Result<void> send_piece(Piece piece, Call& call);
  Result<void> take_ack(const Piece& piece, Published& published);
  /// Takes the acknowledgements of what was sent, and says what became of the call.
  Result<Published> settle(Call& call, const Result<void>& wrote);
};

}  // namespace gorgo::client

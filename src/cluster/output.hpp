#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cluster/evaluation.hpp"
#include "doors/nats/connection.hpp"

namespace gorgo::cluster {

/// The end of an output stream. Each publication names the sequence that the last message of the
/// stream must have, which the broker checks on every copy when it applies the message. So whoever
/// takes himself for the owner and is not finds out with his next publication, and what he has
/// under way fails, too, or is what the other would have written: messages are a function of the
/// input, so the message of a sequence is the same whoever writes it. One thread.
class Output {
 public:
  /// `writer`: who publishes, which stands in the messages.
  Output(std::string stream, std::string subject, std::string writer)
      : stream_(std::move(stream)), subject_(std::move(subject)), writer_(std::move(writer)) {}

  /// Finds the last message of the stream. To be called before the others and behind each failure.
  Result<void> look(natsConnection* connection);
  /// Where the last message comes from; unset: the stream has none.
  const std::optional<OutputPlace>& last() const { return last_; }
  /// Who wrote the last message.
  const std::string& last_writer() const { return last_writer_; }
  /// The sequence of the last message that was looked at.
  std::uint64_t last_sequence() const { return last_sequence_; }
  /// The last sequence that the stream is known to have.
  std::uint64_t known_sequence() const { return known_; }

  /// Begins to publish behind the last message.
  Result<void> begin(natsConnection* connection);
  /// Sends it without waiting for an answer.
  Result<void> publish(const OutputMessage& message);
  /// How many of the messages published since `begin` the stream has for sure, from the first on.
  std::uint64_t confirmed() const { return confirmed_; }
  std::uint64_t published() const { return published_; }
  /// Takes what answers have come, waiting for one for so long at most. An error: a publication was
  /// refused, or no answer came within `kSilence`.
  Result<void> take_answers(std::chrono::milliseconds patience);
  /// Answers that are still to come count no more.
  void end();
  /// Frees what belongs to the connection, which must be closed (see `Connection::close`).
  void close();

 private:
  static constexpr std::chrono::milliseconds kSilence{2500};

  const std::string stream_, subject_, writer_;
  std::optional<OutputPlace> last_;
  std::string last_writer_;
  std::uint64_t last_sequence_ = 0, known_ = 0;
  std::int64_t created_ = 0;  // the stream, when it was looked at

  natsConnection* connection_ = nullptr;  // of the last `begin`
  std::string inbox_;
  std::uint64_t round_ = 0;  // counts `begin` and `end`: an answer belongs to one of them
  doors::nats::Owned<natsSubscription> answers_;
  std::uint64_t base_ = 0;  // the sequence before the first publication
  std::uint64_t published_ = 0, confirmed_ = 0;
  std::chrono::steady_clock::time_point heard_;

  Result<void> open(natsConnection* connection);
  Result<void> take(natsMsg* answer);
};

}  // namespace gorgo::cluster

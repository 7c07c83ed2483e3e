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
  /// `writer`: who publishes, which stands in the messages. `input`: the stream from which the
  /// messages follow.
  Output(std::string stream, std::string subject, std::string writer, std::string input)
      : stream_(std::move(stream)),
        subject_(std::move(subject)),
        writer_(std::move(writer)),
        input_(std::move(input)) {}

  /// Finds the last message of the stream. To be called before the others and behind each failure.
  /// An error: there is no way to the stream, or its last message is stray. `evaluated`: the input
  /// stream is known to have had messages up to this one.
  Result<void> look(natsConnection* connection, std::uint64_t evaluated);
  /// What is wrong with the last message that was looked at, if no node can have written it, and
  /// what to do about it; empty: nothing. Nobody can publish behind it, because nobody knows which
  /// composites the stream has.
  const std::string& stray() const { return stray_; }
  /// How many such messages were found.
  std::uint64_t strays() const { return strays_; }
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

  const std::string stream_, subject_, writer_, input_;
  std::optional<OutputPlace> last_;
  std::string last_writer_;
  std::uint64_t last_sequence_ = 0, known_ = 0;
  std::int64_t created_ = 0;  // the stream, when it was looked at
  std::string stray_;
  std::uint64_t strays_ = 0;

  natsConnection* connection_ = nullptr;  // of the last `begin`
  std::string inbox_;
  std::uint64_t round_ = 0;  // counts `begin` and `end`: an answer belongs to one of them
  doors::nats::Owned<natsSubscription> answers_;
  std::uint64_t base_ = 0;  // the sequence before the first publication
  std::uint64_t published_ = 0, confirmed_ = 0;
  std::chrono::steady_clock::time_point heard_;

  Result<void> look_at_last(jsCtx* context, std::uint64_t first, std::uint64_t evaluated);
  Error is_stray(std::uint64_t sequence, const std::string& why);
  Result<void> open(natsConnection* connection);
  Result<void> take(natsMsg* answer);
};

}  // namespace gorgo::cluster

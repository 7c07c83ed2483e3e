#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/wire.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::cluster {

/// A message of an input stream. Its views refer to what it was taken from.
struct InputMessage {
  std::uint64_t sequence = 0;
  std::string_view from, places, clock, rules;  ///< headers; empty: it has none such
  std::string_view payload;
};

/// Composites that follow from one input message, or some of them.
struct OutputMessage {
  OutputPlace last;  ///< of its last composite
  protocol::Bytes payload;
  std::uint32_t composites = 0;
};

/// What an evaluation knows besides its processor.
struct EvaluationState {
  std::uint64_t sequence = 0;                ///< of the last message that was taken; 0: none was
  std::uint64_t rules_version = 0;           ///< that is in force; 0: there were none yet
  std::map<std::string, std::string> texts;  ///< that are deployed, by name
  std::map<std::string, Place, std::less<>> last_places;  ///< by gateway
};

/// The state of a partition: a function of the messages of its input stream, in their order, and of
/// nothing else. Whoever takes the same messages makes the same output messages, whatever they are
/// called with and however fast: this is what lets a successor go on where an owner has ended.
/// One thread.
class Evaluation {
 public:
  struct Counters {
    std::uint64_t events = 0;      ///< taken
    std::uint64_t repeated = 0;    ///< left out, because they had come before
    std::uint64_t refused = 0;     ///< by the processor
    std::uint64_t composites = 0;  ///< made
    std::uint64_t problems = 0;    ///< messages, or rules in them, that could not be taken
  };

  /// `options`: those that decide results must be the same at all nodes. One thread evaluates.
  explicit Evaluation(ProcessorOptions options);

  /// What follows from the next message. What is wrong with a message is counted and passed over.
  std::vector<OutputMessage> take(const InputMessage& message);

  const EvaluationState& state() const { return state_; }
  std::uint64_t sequence() const { return state_.sequence; }
  std::uint64_t rules_version() const { return state_.rules_version; }
  const Counters& counters() const { return counters_; }
  /// What was wrong with the last message that was; empty: none was.
  const std::string& problem() const { return problem_; }

  /// Saves what the processor knows as of now, as `Processor::begin_save` and what follows it,
  /// while messages are taken. `state` is to be copied when it begins. New rules end it in the
  /// middle.
  Result<Processor::SavedPart> begin_save() { return processor_.begin_save(); }
  std::optional<Processor::SavedPart> save_more(std::size_t bytes) {
    return processor_.save_more(bytes);
  }
  bool is_saving() const { return processor_.is_saving(); }
  void end_save() { processor_.end_save(); }
  /// Brings back what was saved. An error leaves an evaluation that is of no use. Precondition:
  /// nothing was taken yet.
  Result<void> restore(EvaluationState state, const Processor::NextSaved& next);

 private:
  class Collector;

  Processor processor_;
  EvaluationState state_;
  Counters counters_;
  std::string problem_;

  void note(std::string problem);
  void take_rules(const InputMessage& message, Collector& into);
  void deploy(const RulesMessage& rules);
  void move_clock(const InputMessage& message, Collector& into);
  void take_events(const InputMessage& message, Collector& into);
  void append(const ReceivedEvents& events, Place& last, Collector& into);
};

}  // namespace gorgo::cluster

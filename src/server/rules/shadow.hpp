#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gorgo/processor.hpp"
#include "protocol/framing.hpp"
#include "server/rules/composite_difference.hpp"

namespace gorgo::server {

/// A version of rules that runs beside those in force, on the events that they get, so that people
/// see the difference before they promote it. What it gives reaches nobody. It has a processor of
/// its own, which begins with empty windows: what differs until they are full is counted apart.
///
/// Belongs to the engine thread, once it is made.
class Shadow {
 public:
  using Names = std::set<std::string, std::less<>>;

  /// `text`: checked without errors against the rules in force. Any thread.
  Shadow(const dispatch::CheckedText& text, ProcessorOptions options);

  /// Its own diagnostics; when they failed, it is of no use.
  const Diagnostics& diagnostics() const { return diagnostics_; }
  /// Starts now, with the rows that tables have. `deployed`: the rules in force, `replaced`: those
  /// of them that it stands beside. `now`: by the server's clock.
  void start(Names replaced, const Processor& deployed, std::string who, Timestamp now);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  /// Events that the rules in force were given, and composites that they gave. It never throws: a
  /// shadow that fails has ended, and says why.
  void take(const OutputBatch& batch) noexcept;
  /// All of them were given up to this clock.
  void settle(std::optional<Timestamp> clock) noexcept;
  /// Without samples of types that whoever asks may not see.
  wire::ShadowInfoT info(const std::function<bool(std::string_view type)>& may_see) const;

 private:
  const ProcessorOptions options_;
  const Schema types_;                  // beside those of its rules
  std::optional<Processor> processor_;  // unset: it has ended
  std::string name_, text_;
  Diagnostics diagnostics_;
  std::string who_;
  Timestamp since_ = 0;
  Names rules_, replaced_, read_;   // `read_`: types
  std::optional<Timestamp> clock_;  // of the rules in force
  std::optional<Timestamp> given_;  // the largest timestamp that the processor was given
  std::optional<Timestamp> full_;   // then its windows are full; unset: before any event
  std::uint64_t events_ = 0, refused_ = 0;
  CompositeDifference difference_;
  std::optional<CompositeDifference::Counts> filling_;  // what differed before; unset: still fills
  std::string stopped_;                                 // why it has ended; empty: it has not

  /// Does what a shadow does unless it has ended; a failure ends it.
  template <class Action>
  void attempt(Action action) noexcept;
  void stop(const char* why);
  void take_rows(const Processor& deployed);
  void give(const OutputBatch& batch);
  void give(BatchBuilder& events);
  void reach(std::optional<Timestamp> clock);
  void evaluate();
  void count();
  Duration reach_of_rules() const;
};

}  // namespace gorgo::server

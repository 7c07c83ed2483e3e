#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "gorgo/processor.hpp"
#include "server/durability/engine_clock.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/durability/result_hash.hpp"
#include "server/log.hpp"

namespace gorgo::server {

/// Writes into the journal what the processor decides by itself, so that a replay decides the same,
/// and what came of the events, so that a replay with other results is told. Belongs to the engine
/// thread.
class DecisionWriter {
 public:
  struct Parts {
    Processor& processor;
    EngineClock& clock;
    JournalWriter& journal;
    ResultHash& results;
    Log& log;
    std::size_t reserve_bytes;  ///< for the log
  };
  explicit DecisionWriter(const Parts& parts) : parts_(parts) {}

  /// Before that, in a replay, the journal tells what is decided, and all decisions are refused.
  void begin() { decides_ = true; }
  /// What came of the events so far is known to the journal.
  void recovered() { results_written_ = parts_.processor.roots(); }

  /// A rule is to be suspended or taken up again. False: it has to stay as it is for now.
  bool suspend(const std::string& rule, bool suspended);
  /// A rule that found no memory is to be suspended. False: it must not be.
  bool starve(const Starvation& starvation);
  /// Notes what came of the events, now and then or at the end.
  void write_results(bool at_the_end);

 private:
  const Parts parts_;
  bool decides_ = false;
  std::uint64_t results_written_ = 0;  // the last root of which the journal says what came of it
};

}  // namespace gorgo::server

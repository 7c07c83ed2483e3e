#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "gorgo/value.hpp"

namespace gorgo::server {

/// The clock that stamps events. While it is held, all readings are the same, so that one number
/// tells the journal what the clock said. Belongs to the engine thread.
class EngineClock {
 public:
  explicit EngineClock(std::function<Timestamp()> source) : source_(std::move(source)) {}

  Timestamp now() {
    if (!held_) return source_();
    if (!reading_) reading_ = source_();
    return *reading_;
  }

  /// Holds it until this is destroyed.
  class Hold {
   public:
    /// At the first reading, or at `at`.
    explicit Hold(EngineClock& clock, std::optional<Timestamp> at = {}) : clock_(clock) {
      clock_.held_ = true;
      clock_.reading_ = at;
    }
    ~Hold() { clock_.held_ = false; }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    /// What the clock said, or says now where nobody has asked.
    Timestamp reading() const { return clock_.now(); }

   private:
    EngineClock& clock_;
  };

 private:
  const std::function<Timestamp()> source_;
  bool held_ = false;
  std::optional<Timestamp> reading_;
};

}  // namespace gorgo::server

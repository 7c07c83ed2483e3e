#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "doors/door.hpp"
#include "doors/payload.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors {

/// Makes events of the lines of one text. One thread.
class LineReader {
 public:
  /// `name`: of the text, for dead letters.
  LineReader(const Settings& settings, const Types& types, std::string name);

  void begin_batch() { reader_->begin_batch(); }
  /// Adds what the line completes to what has arrived.
  void take(std::string_view line, Arrived& arrived);
  /// No line follows: a record that is still open becomes a dead letter.
  void end(Arrived& arrived);
  std::uint64_t lines() const { return lines_; }

 private:
  const std::string name_;
  const std::unique_ptr<PayloadReader> reader_;
  bool awaits_header_;
  bool is_refused_ = false;  // its header was, and so no line can be read
  std::uint64_t lines_ = 0;
  std::uint64_t first_ = 0;  // of the lines that are read together
  bool is_open_ = false;     // and go on

  void refuse(std::string_view line, const Error& why, Arrived& arrived) const;
};

}  // namespace gorgo::doors

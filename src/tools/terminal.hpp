#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gorgo/value.hpp"

namespace gorgo::tools {

/// The terminal of standard output, taken over for a view that fills it. The destructor gives it
/// back as it was. One object per process.
class Terminal {
 public:
  /// Whether standard output is one that can show a view.
  static bool is_there();

  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  struct Size {
    std::size_t width = 80, height = 24;
  };
  /// As it is at the moment.
  static Size size();
  /// Replaces what is shown; the first line stands out, unless NO_COLOR is set.
  void show(const std::vector<std::string>& lines);
  /// Waits so long for a key, `q` for a signal to stop. Nothing: the time is over.
  std::optional<char> key(Duration timeout);

 private:
  termios before_ = {};
  bool has_keys_ = false;
};

}  // namespace gorgo::tools

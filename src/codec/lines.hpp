#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace gorgo::codec {

/// Cuts a stream of bytes into lines without copying them one by one:
///
///     auto space = lines.space();            // read(2) into it
///     lines.fill(n);                         // n bytes were read
///     while (auto line = lines.next()) ...   // valid until the next call of space()
///     if (auto rest = lines.rest()) ...      // at the end: a last line without an end
class LineCutter {
 public:
  struct Space {
    char* data;
    std::size_t size;
  };

  /// Room for at least 256 KiB more; grows while a single line does not fit.
  Space space();
  void fill(std::size_t size) { end_ += size; }
  std::optional<std::string_view> next();
  std::optional<std::string_view> rest();
  /// Bytes of the line that has not ended yet.
  std::size_t open() const { return end_ - begin_; }
  /// Bytes that it takes.
  std::size_t memory() const { return bytes_.capacity(); }

 private:
  std::vector<char> bytes_;
  std::size_t begin_ = 0;    // of the first line not handed out
  std::size_t scanned_ = 0;  // no line end in [begin_, scanned_)
  std::size_t end_ = 0;      // of what was filled
};

}  // namespace gorgo::codec

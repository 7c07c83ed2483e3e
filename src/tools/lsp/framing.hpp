#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"

/// The base protocol of LSP 3.17: a header with the length of the content, an empty line, the
/// content.
namespace gorgo::tools::lsp {

/// Cuts a stream of bytes into the contents of its messages.
class MessageCutter {
 public:
  static constexpr std::size_t kMaxHeader = 4096;
  static constexpr std::size_t kMaxContent = std::size_t{64} << 20;

  void feed(std::string_view bytes) { bytes_ += bytes; }
  /// The next content; nothing: it is not complete. After an error the stream is of no use: nobody
  /// knows where the next message begins.
  Result<std::optional<std::string>> next();

 private:
  std::string bytes_;  // those not handed out
};

/// A content with its header.
std::string framed(std::string_view content);

}  // namespace gorgo::tools::lsp

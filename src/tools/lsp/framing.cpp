#include "tools/lsp/framing.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "tools/line_text.hpp"

namespace gorgo::tools::lsp {
namespace {

constexpr std::string_view kEndOfHeader = "\r\n\r\n";

bool is_content_length(std::string_view name) {
  constexpr std::string_view kName = "content-length";
  return std::equal(name.begin(), name.end(), kName.begin(), kName.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

Result<std::size_t> content_length(std::string_view header) {
  std::optional<std::size_t> length;
  while (!header.empty()) {
    const std::size_t end = std::min(header.find("\r\n"), header.size());
    const auto field = cut(header.substr(0, end), ":");
    header.remove_prefix(std::min(end + 2, header.size()));
    if (!field) return Error{"a header field of a message has no colon", ""};
    const auto [name, value] = *field;
    if (!is_content_length(name)) continue;
    std::size_t number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size() ||
        number > MessageCutter::kMaxContent) {
      return Error{"the Content-Length of a message is no number up to 64 MiB", ""};
    }
    length = number;
  }
  if (!length) return Error{"a message has no Content-Length", "is the client one for LSP?"};
  return *length;
}

}  // namespace

Result<std::optional<std::string>> MessageCutter::next() {
  const std::size_t header = bytes_.find(kEndOfHeader);
  if (std::min(header, bytes_.size()) > kMaxHeader) {
    return Error{"the header of a message does not end", "is the client one for LSP?"};
  }
  if (header == bytes_.npos) return std::optional<std::string>();
  const auto length = content_length(std::string_view(bytes_).substr(0, header));
  if (!length) return length.error();
  const std::size_t begin = header + kEndOfHeader.size();
  if (bytes_.size() - begin < *length) return std::optional<std::string>();
  std::optional<std::string> content = bytes_.substr(begin, *length);
  bytes_.erase(0, begin + *length);
  return content;
}

std::string framed(std::string_view content) {
  return "Content-Length: " + std::to_string(content.size()) + std::string(kEndOfHeader) +
         std::string(content);
}

}  // namespace gorgo::tools::lsp

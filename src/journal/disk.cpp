#include "journal/disk.hpp"

#include <algorithm>

namespace gorgo::journal {
namespace {

/// Takes `count` bytes off the front of `parts`.
void drop_front(std::vector<Bytes>& parts, std::size_t count) {
  std::size_t whole = 0;
  while (whole < parts.size() && count >= parts[whole].size()) count -= parts[whole++].size();
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(whole));
  if (!parts.empty()) parts.front() = parts.front().subspan(count);
}

}  // namespace

Result<void> write_all(File& file, std::uint64_t offset, std::span<const Bytes> parts) {
  std::size_t left = 0;
  for (const Bytes part : parts) left += part.size();
  auto written = file.write(offset, parts);
  if (written && *written == left) return {};
  std::vector<Bytes> rest(parts.begin(), parts.end());
  while (true) {
    if (!written) return written.error();
    drop_front(rest, *written);
    offset += *written;
    left -= *written;
    if (left == 0) return {};
    written = file.write(offset, rest);
  }
}

Result<std::size_t> read_all(File& file, std::uint64_t offset, std::span<std::byte> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const auto got = file.read(offset + filled, into.subspan(filled));
    if (!got) return got.error();
    if (*got == 0) break;
    filled += *got;
  }
  return filled;
}

}  // namespace gorgo::journal

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "codec/event_line.hpp"
#include "codec/event_text.hpp"
#include "codec/plain_lines.hpp"

namespace {

using namespace gorgo;

/// What is read from a line and written again must read as the same event.
void check_line(std::string_view bytes) {
  const auto event = codec::read_event_line(bytes);
  if (!event) return;
  std::string written, again;
  codec::append_event_line(written, *event);
  const auto read = codec::read_event_line(written);
  if (!read) std::abort();
  codec::append_event_line(again, *read);
  if (written != again) std::abort();
}

/// The fast reader must make of a line what the careful one does, or leave it.
void check_plain_line(std::string_view bytes) {
  codec::PlainLines lines;
  const codec::PlainLine* const plain = lines.read(bytes);
  if (plain == nullptr) return;
  const auto event = codec::read_event_line(bytes);
  if (!event || codec::is_tick(*event) != plain->is_tick()) std::abort();
  if (event->timestamp != plain->timestamp) std::abort();
  if (plain->is_tick()) return;
  BatchBuilder batch;
  plain->add_to(batch);
  std::string fast, careful;
  codec::append_event_line(fast, BatchCursor(batch.batch()).to_event());
  codec::append_event_line(careful, *event);
  if (fast != careful) std::abort();
}

void check_csv(std::string_view bytes) {
  const auto reader = codec::make_csv_reader({}, nullptr);
  BatchBuilder batch;
  while (!bytes.empty() && !reader->broken() && !batch.full()) {
    const auto end = bytes.find('\n');
    static_cast<void>(reader->next(bytes.substr(0, end), batch));
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
  }
  std::string written;
  for (BatchCursor at(batch.batch()); !at.done(); at.advance()) {
    codec::append_event_line(written, at.to_event());
  }
  static_cast<void>(reader->finish());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_line(bytes);
  check_plain_line(bytes);
  check_csv(bytes);
  return 0;
}

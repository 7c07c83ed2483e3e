#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "protocol/batch.hpp"
#include "protocol/batch_check.hpp"
#include "server/http/events_body.hpp"

namespace {

using namespace gorgo;
using server::http::EventsBody;

constexpr std::size_t kMost = std::size_t{64} << 10;

/// Whatever comes of a body must be a publication that a server accepts, with a row for each event.
void check_publication(EventsBody& body) {
  const auto frame = body.publish({}, 1);
  const auto message = protocol::open_frame(frame);
  if (!message) std::abort();
  const auto& batch = *(*message)->body_as_Publish()->batch();
  if (!protocol::check_batch(batch, frame.size(), UINT32_MAX)) std::abort();
  std::uint32_t next = 0;
  for (BatchCursor event(protocol::view_of(batch)); !event.done(); event.advance()) {
    const std::uint32_t row = body.row_of(event.position());
    if (row < next) std::abort();
    next = row + 1;
  }
}

/// `compressed`: gzip. In pieces of `piece` bytes.
void check_body(std::string_view bytes, bool compressed, std::size_t piece) {
  EventsBody events(kMost);
  server::http::GzipBody gzip(events, kMost);
  server::http::Body& body = compressed ? static_cast<server::http::Body&>(gzip) : events;
  while (!bytes.empty()) {
    if (body.put(bytes.substr(0, piece))) return;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  if (body.finish()) return;
  check_publication(events);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t piece = data[0] < 128 ? 1 + data[0] : 65536;
  check_body(bytes, false, piece);
  check_body(bytes, true, piece);
  return 0;
}

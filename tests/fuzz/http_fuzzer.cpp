#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "server/http/api.hpp"
#include "server/http/events_body.hpp"
#include "server/http/request_reader.hpp"

namespace {

using namespace gorgo::server;
using http::RequestReader;

/// Gives the reader the next bytes; false: there are none.
bool feed(RequestReader& reader, std::string_view& bytes, std::size_t piece) {
  const auto space = reader.space();
  const std::size_t size = std::min({space.size(), piece, bytes.size()});
  std::memcpy(space.data(), bytes.data(), size);
  reader.fill(size);
  bytes.remove_prefix(size);
  return size > 0;
}

/// Reads one request as a connection does; false: no other may follow.
bool read_request(RequestReader& reader, std::string_view& bytes, std::size_t piece) {
  reader.next_request();
  auto step = reader.parse_head();
  for (; step == RequestReader::Step::more; step = reader.parse_head()) {
    if (!feed(reader, bytes, piece)) return false;
  }
  if (step == RequestReader::Step::failed) return false;
  const auto target =
      http::parse_target({reader.head().target().data(), reader.head().target().size()});
  if (target) static_cast<void>(http::find_route(reader.head().method(), *target));
  http::EventsBody body(4096);
  for (step = reader.parse_body(&body, piece);; step = reader.parse_body(&body, piece)) {
    if (step == RequestReader::Step::done) return reader.keep_alive();
    if (step == RequestReader::Step::failed) return false;
    const bool needs = step == RequestReader::Step::more;
    if (needs && !feed(reader, bytes, piece)) return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  HttpOptions options;
  options.max_header_bytes = 1024;
  options.max_body_bytes = 4096;
  RequestReader reader(options);
  while (read_request(reader, bytes, 1 + data[0])) {
  }
  return 0;
}

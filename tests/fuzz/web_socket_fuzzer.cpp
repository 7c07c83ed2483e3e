#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "protocol/batch_check.hpp"
#include "protocol/framing.hpp"
#include "server/http/web_socket_command.hpp"

namespace {

using namespace gorgo;

/// A publication must be one that a server accepts.
void check_publication(server::http::PublishCommand& publish) {
  const auto frame = publish.events->publish(publish.header, 1);
  const auto message = protocol::open_frame(frame);
  if (!message) std::abort();
  const auto& batch = *(*message)->body_as_Publish()->batch();
  if (!protocol::check_batch(batch, frame.size(), UINT32_MAX)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto parsed = server::http::parse_command({reinterpret_cast<const char*>(data), size},
                                            std::size_t{1} << 16);
  if (auto* command = std::get_if<server::http::WebSocketCommand>(&parsed)) {
    auto* publish = std::get_if<server::http::PublishCommand>(&command->what);
    if (publish != nullptr) check_publication(*publish);
  } else if (std::get<server::http::WrongCommand>(parsed).why.message.empty()) {
    std::abort();
  }
  return 0;
}

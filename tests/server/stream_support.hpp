#pragma once

#include <string>
#include <string_view>

#include "http_support.hpp"

namespace gorgo::server {

/// One of a stream of server-sent events.
struct SentEvent {
  std::string kind, id, data;
};

inline SentEvent next_event(HttpConnection& http) {
  SentEvent event;
  for (std::string line = http.line(); !line.empty(); line = http.line()) {
    if (line.starts_with("event: ")) event.kind = line.substr(7);
    if (line.starts_with("id: ")) event.id = line.substr(4);
    if (line.starts_with("data: ")) event.data = line.substr(6);
  }
  return event;
}

/// The client's side of a WebSocket.
class WebSocketClient {
 public:
  explicit WebSocketClient(const std::string& address, const std::string& target = "/v1/events",
                           const std::string& headers = "")
      : http_(address) {
    accepted_ = http_.ask("GET", target, "",
                          "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
                          "\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                              headers);
  }
  const HttpResponse& accepted() const { return accepted_; }
  HttpConnection& http() { return http_; }

  void send(std::string_view text, char first = '\x81') {
    std::string frame(1, first);
    if (text.size() < 126) {
      frame += static_cast<char>(0x80 | text.size());
    } else {
      frame += '\xfe';
      frame += static_cast<char>(text.size() >> 8);
      frame += static_cast<char>(text.size());
    }
    frame += std::string(4, '\0');  // a mask that changes nothing
    http_.send(frame + std::string(text));
  }
  /// The next message, or the kind of the frame where it is no text: "8" is closing.
  std::string receive() {
    const std::string head = http_.bytes(2);
    if (head.size() < 2) return "";
    std::size_t size = static_cast<unsigned char>(head[1]);
    if (size >= 126) {
      const std::string more = http_.bytes(size == 126 ? 2 : 8);
      size = 0;
      for (const char byte : more) size = size << 8 | static_cast<unsigned char>(byte);
    }
    const std::string content = http_.bytes(size);
    if (head[0] != '\x81') return std::to_string(head[0] & 0xF);
    return content;
  }
  Json receive_json() { return Json::parse(receive(), nullptr, false); }
  Json ask(const std::string& text) {
    send(text);
    return receive_json();
  }

 private:
  HttpConnection http_;
  HttpResponse accepted_;
};

}  // namespace gorgo::server

#include "socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace gorgo::soak {

Socket::Socket(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval second{.tv_sec = 1, .tv_usec = 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(descriptor_, generic, sizeof address) != 0) close();
}

Socket::~Socket() { close(); }

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  return *this;
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void Socket::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

bool Socket::send(std::span<const std::uint8_t> bytes) {
  while (is_open() && !bytes.empty()) {
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno != EINTR) {
      close();
    }
  }
  return is_open();
}

bool Socket::receive(std::span<std::uint8_t> bytes) {
  while (is_open() && !bytes.empty()) {
    const auto received = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (received > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(received));
    } else if (received == 0 || errno != EINTR) {
      close();
    }
  }
  return is_open();
}

std::optional<protocol::Bytes> Socket::receive() {
  protocol::Bytes frame(protocol::kPrefix);
  if (!receive(std::span(frame))) return std::nullopt;
  const auto content = flatbuffers::ReadScalar<std::uint32_t>(frame.data());
  frame.resize(protocol::kPrefix + content);
  if (!receive(std::span(frame).subspan(protocol::kPrefix))) return std::nullopt;
  return frame;
}

bool Socket::greet() {
  wire::HelloT hello;
  hello.min_version = hello.max_version = protocol::kVersion;
  if (!send(1, hello)) return false;
  const auto frame = receive();
  if (!frame) return false;
  const auto message = protocol::open_frame(*frame);
  return message && (*message)->body_type() == wire::Body::Welcome;
}

}  // namespace gorgo::soak

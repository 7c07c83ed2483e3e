#include "doors/mqtt/session.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::doors::mqtt {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kKeepAlive{30};
constexpr std::uint32_t kForEver = ~std::uint32_t{0};

}  // namespace

Session::Session(const Settings& settings, Manner manner)
    : settings_(settings),
      manner_(std::move(manner)),
      version_(settings.protocol == "5" ? Version::v5 : Version::v3_1_1),
      link_(settings.broker, settings.ca) {}

void Session::close() noexcept {
  link_.close();
  cutter_ = Cutter();
}

Result<Connected> Session::open() {
  close();
  if (auto opened = link_.open(); !opened) return opened.error();
  heard_ = sent_ = Clock::now();
  pings_ = pongs_ = 0;
  auto greeted = greet();
  if (!greeted) close();
  return greeted;
}

Result<Connected> Session::greet() {
  Connect connect{.version = version_,
                  .client_id = manner_.client_id,
                  .clean_start = !manner_.lasts,
                  .session_expiry = manner_.lasts ? kForEver : 0,
                  .keep_alive = static_cast<std::uint16_t>(kKeepAlive.count()),
                  .receive_maximum = static_cast<std::uint16_t>(settings_.max_in_flight)};
  if (!settings_.user.empty()) {
    auto secret = password_of(settings_);
    if (!secret) return secret.error();
    connect.user = settings_.user;
    connect.password = std::move(*secret);
  }
  std::string packet;
  append_connect(packet, connect);
  if (auto sent = send(packet); !sent) return sent.error();
  const auto until = Clock::now() + kAnswer;
  while (Clock::now() < until) {
    const auto answer = next(kAnswer);
    if (!answer) return answer.error();
    if (!*answer) continue;
    if ((*answer)->kind != Packet::Kind::connected) break;
    const Connected& connected = (*answer)->connected;
    if (connected.reason < kRefused) return connected;
    return Error{"the broker " + settings_.broker + " refuses: " + text_of_reason(connected.reason),
                 "see to user, password_file and client_id"};
  }
  return Error{"the broker " + settings_.broker + " does not answer as a broker of MQTT " +
                   settings_.protocol + " does",
               "protocol = \"3.1.1\" is for brokers that do not speak MQTT 5"};
}

Result<void> Session::send(std::string_view packets) {
  if (packets.empty()) return {};
  sent_ = Clock::now();
  auto written = link_.write(packets);
  if (!written) close();
  return written;
}

Result<void> Session::keep_alive() {
  const auto now = Clock::now();
  if (now - heard_ > kKeepAlive + kAnswer) {
    close();
    return Error{"the broker " + settings_.broker + " is silent", ""};
  }
  if (now - std::min(sent_, heard_) < kKeepAlive / 2 || now - sent_ < kAnswer) return {};
  return ping();
}

Result<void> Session::ping() {
  std::string packet;
  append_ping(packet);
  ++pings_;
  return send(packet);
}

Result<std::optional<Packet>> Session::cut() {
  while (true) {
    const auto frame = cutter_.next();
    if (frame && !*frame) return std::optional<Packet>();
    const auto packet =
        frame ? read_packet(**frame, version_)
              : Result<Packet>(Error{"the broker has sent " + frame.error().message, ""});
    if (!packet) {
      close();
      return packet.error();
    }
    if (packet->kind == Packet::Kind::pong) {
      ++pongs_;
      continue;
    }
    if (packet->kind != Packet::Kind::disconnect) return std::optional(*packet);
    const std::string why = text_of_reason(packet->reason);
    close();
    return Error{"the broker " + settings_.broker + " has ended the connection: " + why, ""};
  }
}

Result<std::optional<Packet>> Session::next(milliseconds patience) {
  auto packet = cut();
  if (!packet || *packet) return packet;
  if (auto alive = keep_alive(); !alive) return alive.error();
  const auto space = cutter_.space();
  const auto bytes = link_.read(space.data, space.size, patience);
  if (!bytes) {
    close();
    return bytes.error();
  }
  if (*bytes == 0) return std::optional<Packet>();
  heard_ = Clock::now();
  cutter_.fill(*bytes);
  return cut();
}

}  // namespace gorgo::doors::mqtt

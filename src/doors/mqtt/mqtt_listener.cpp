#include "doors/mqtt/mqtt_listener.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/open_files.hpp"
#include "doors/hash.hpp"

namespace gorgo::doors::mqtt {
namespace {

using boost::system::error_code;
using std::chrono::seconds;

constexpr std::size_t kMostDevices = 10'000;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of all connections together
constexpr seconds kGreeting{10};                            // within which a device greets
constexpr seconds kBetweenLooks{1};
constexpr seconds kBetweenTold{10};  // of logins that were refused
// Many devices may have one address, and one of them a wrong password.
constexpr Attempts::Bounds kWrongPasswords{.most = 100, .one = std::chrono::milliseconds(500)};
// A device of MQTT 3.1.1 cannot be told how many messages it may send before one is acknowledged.
constexpr std::size_t kMostHeld = 4096;

/// Whether two secrets are the same, in a time that does not depend on where they differ.
bool is_same(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_client_id() {
  std::random_device random;
  std::string id = "gorgo-";
  for (int i = 0; i < 4; ++i) id += std::to_string(random());
  return id;
}

}  // namespace

MqttListener::MqttListener(const Settings& settings, const Types& types, const Position& position,
                           Secrets secrets)
    : settings_(settings),
      secrets_(std::move(secrets)),
      reader_(settings, types, settings.topics, kMqttTopics),
      sessions_(position, Clock::now()),
      attempts_(kWrongPasswords) {}

MqttListener::~MqttListener() {
  for (const DevicePtr& device : devices_) {
    std::string goodbye;
    if (device->greeting) append_goodbye(goodbye, Reason::shutting_down, device->version());
    device->connection->close(goodbye);
  }
}

Result<void> MqttListener::open() {
  if (port_ != nullptr) return {};
  auto opened = listen_at(loop_.io(), settings_.listen, [this](const Tcp::endpoint& endpoint) {
    port_ = std::make_unique<TcpPort>(loop_.io(), endpoint,
                                      [this](Tcp::socket socket) { welcome(std::move(socket)); });
  });
  if (opened) look();
  return opened;
}

void MqttListener::welcome(Tcp::socket socket) {
  // Half of what the process may have open is for others, for instance those who look after it.
  if (devices_.size() >= std::min(kMostDevices, most_open_files() / 2)) return;
  if (is_kept_for_files(socket.native_handle())) return;
  auto device = std::make_shared<Device>();
  device->connection = std::make_shared<DeviceConnection>(std::move(socket));
  device->heard = Clock::now();
  devices_.insert(device);
  // The connection outlives neither of both, since `remove` closes it.
  device->connection->start(
      secrets_.tls.get(), [this, one = device.get()] { take_packets(one->shared_from_this()); },
      [this, one = device.get()] { remove(one->shared_from_this(), true); });
}

/// Looks after devices that are silent, and sessions that are over.
void MqttListener::look() {
  next_look_.expires_after(kBetweenLooks);
  next_look_.async_wait([this](error_code cancelled) {
    if (cancelled) return;
    const auto now = Clock::now();
    std::vector<DevicePtr> silent;
    for (const DevicePtr& device : devices_) {
      // While nothing is read, nobody is silent.
      const auto silence = now - std::max(device->heard, since_);
      // A device may be late by half of what it has said.
      const std::chrono::duration<double> allowed =
          device->greeting ? seconds(device->greeting->keep_alive) * 1.5 : kGreeting;
      if (allowed > seconds(0) && silence > allowed) silent.push_back(device);
    }
    for (const DevicePtr& device : silent) dismiss(device, Reason::silent, "");
    sessions_.forget_expired(now);
    tell_refused(now);
    look();
  });
}

/// Whoever tries passwords is told of, and not often enough to fill the log.
void MqttListener::tell_refused(Clock::time_point now) {
  if (refused_.logins == 0 || now - told_ < kBetweenTold) return;
  told_ = now;
  const Refused refused = std::exchange(refused_, {});
  arrived_.dead.push_back({refused.peer,
                           std::to_string(refused.logins) +
                               " logins of devices had a wrong user or password, or too many "
                               "others from their address had; the last one of " +
                               refused.client_id,
                           ""});
}

void MqttListener::take_packets(const DevicePtr& device) {
  // Who has not greeted must do so in time, whatever else comes.
  if (device->greeting) device->heard = Clock::now();
  while (device->connection->is_open()) {
    const auto frame = device->connection->next();
    if (!frame) {
      dismiss(device, Reason::malformed, frame.error().message, device->connection->rest());
      return;
    }
    if (!*frame) break;
    if (!take(device, **frame)) return;
  }
  bytes_ += device->connection->bytes() - device->bytes;
  device->bytes = device->connection->bytes();
  if (bytes_ > kMostBytes) {
    dismiss(device, Reason::quota_exceeded,
            "all devices together have sent too many parts of packets");
  }
}

bool MqttListener::take(const DevicePtr& device, const Frame& frame) {
  if (!device->greeting) return greet(device, frame);
  switch (frame.head) {
    case Head::publish:
      return take_message(device, frame);
    case Head::pubrel:
    case Head::subscribe:
    case Head::unsubscribe:
      return take_request(device, frame);
    case Head::pingreq:
      append_pong(answer(device));
      return true;
    case Head::disconnect:
      return take_parting(device, frame);
    default:
      return dismiss(device, Reason::protocol_error, "a packet that no device may send");
  }
}

bool MqttListener::greet(const DevicePtr& device, const Frame& frame) {
  bool wrong_version = false;
  auto greeting = frame.head == Head::connect ? read_greeting(frame, wrong_version)
                                              : Result<Greeting>(Error{"no CONNECT", ""});
  if (!greeting) {
    // What does not speak MQTT gets no answer.
    if (wrong_version) return refuse(device, Reason::wrong_version);
    remove(device, false);
    return false;
  }
  device->greeting = *greeting;
  device->heard = Clock::now();
  Welcome welcome{.receive_maximum = static_cast<std::uint16_t>(settings_.max_in_flight),
                  .most_packet = DeviceConnection::kMostPacket};
  const Reason no = judge(device, welcome.assigned_client_id);
  if (no == Reason::wrong_password || no == Reason::rate_exceeded) {
    ++refused_.logins;
    refused_.peer = device->connection->peer();
    refused_.client_id = device->greeting->client_id;
  }
  if (no != Reason::success) return refuse(device, no);
  const auto id = hash(device->greeting->client_id);
  if (const auto other = greeted_.find(id); other != greeted_.end()) {
    const DevicePtr before = other->second;
    dismiss(before, Reason::taken_over, "");
  }
  const auto session =
      sessions_.begin(id, device->greeting->clean_start, device->greeting->session_expiry);
  if (!session) return refuse(device, Reason::quota_exceeded);
  device->id = id;
  device->connection->greeted();
  greeted_[id] = device;
  welcome.session_present = *session;
  append_welcome(answer(device), welcome, device->version());
  return true;
}

/// Whether a device may come in. `assigned`: the client id that it gets where it has none.
Reason MqttListener::judge(const DevicePtr& device, std::string& assigned) {
  Greeting& greeting = *device->greeting;
  const auto& from = device->connection->address();
  if (!attempts_.may_try(from, Clock::now())) return Reason::rate_exceeded;
  if (!is_known(greeting)) {
    attempts_.failed(from, Clock::now());
    return Reason::wrong_password;
  }
  if (!greeting.client_id.empty()) return Reason::success;
  if (greeting.version == Version::v3_1_1 && !greeting.clean_start) return Reason::wrong_client_id;
  greeting.client_id = assigned = random_client_id();
  return Reason::success;
}

/// Whether it is of the user, if the settings have one.
bool MqttListener::is_known(const Greeting& greeting) const {
  // Both are compared whatever comes of the first, so that the time tells nothing.
  const bool is_user = is_same(greeting.user.value_or(""), settings_.user);
  const bool is_right = is_same(greeting.password.value_or(""), secrets_.password);
  return settings_.user.empty() || (is_user && is_right);
}

bool MqttListener::take_message(const DevicePtr& device, const Frame& frame) {
  const auto message = read_publish(frame, device->version());
  if (!message) return dismiss(device, Reason::malformed, message.error().message, frame.content);
  if (message->topic.find_first_of("+#") != std::string_view::npos) {
    return dismiss(device, Reason::malformed, "a topic with wildcards", message->payload);
  }
  if (message->qos == 2) return take_once(device, *message);
  reader_.take(message->topic, message->payload, arrived_);
  if (message->qos == 1) append_yes(answer(device), Head::puback, message->packet_id);
  return true;
}

/// A device of MQTT 3.1.1 that sends more than can be held gets no answer for what is beyond, nor
/// for what follows, and comes again with it: see `take_request`.
bool MqttListener::take_once(const DevicePtr& device, const Publish& message) {
  using Hold = DeviceSessions::Hold;
  const bool is_told = device->version() == Version::v5;
  const std::size_t most = is_told ? static_cast<std::size_t>(settings_.max_in_flight) : kMostHeld;
  const auto held =
      device->left_some_out ? Hold::too_many : sessions_.hold(device->id, message.packet_id, most);
  if (held == Hold::too_many && is_told) {
    return dismiss(device, Reason::receive_maximum_exceeded,
                   "more messages of quality 2 than max_in_flight", message.payload);
  }
  device->left_some_out = held == Hold::too_many;
  if (device->left_some_out) return true;
  if (held == Hold::is_new) reader_.take(message.topic, message.payload, arrived_);
  append_yes(answer(device), Head::pubrec, message.packet_id);
  return true;
}

bool MqttListener::take_request(const DevicePtr& device, const Frame& frame) {
  const auto request = read_request(frame, device->version());
  if (!request) return dismiss(device, Reason::malformed, request.error().message);
  if (frame.head == Head::pubrel) {
    sessions_.release(device->id, request->packet_id);
    append_yes(answer(device), Head::pubcomp, request->packet_id);
    // It sends the others again when it comes back.
    if (device->left_some_out && sessions_.held(device->id) == 0) {
      return dismiss(device, Reason::quota_exceeded, "");
    }
  } else {
    const auto head = frame.head == Head::subscribe ? Head::suback : Head::unsuback;
    append_no(answer(device), head, *request, device->version());
  }
  return true;
}

bool MqttListener::take_parting(const DevicePtr& device, const Frame& frame) {
  const auto parting = read_parting(frame, device->version());
  if (!parting) return dismiss(device, Reason::malformed, parting.error().message);
  remove(device, parting->keeps_will, parting->session_expiry);
  return false;
}

bool MqttListener::refuse(const DevicePtr& device, Reason reason) {
  std::string refusal;
  append_refusal(refusal, reason, device->greeting ? device->version() : Version::v3_1_1);
  device->greeting.reset();
  device->connection->close(refusal);
  remove(device, false);
  return false;
}

/// Ends the connection of a device. `why`: what it has done wrong, if it is to be told.
/// `payload`: what has come with that, for the dead letter.
bool MqttListener::dismiss(const DevicePtr& device, Reason reason, const std::string& why,
                           std::string_view payload) {
  std::string goodbye;
  if (device->greeting) {
    append_goodbye(goodbye, reason, device->version());
    if (!why.empty()) {
      arrived_.dead.push_back({device->connection->peer(),
                               "the device " + device->greeting->client_id + " has sent " + why +
                                   "; its connection is closed",
                               payload});
    }
  }
  device->connection->close(goodbye);
  remove(device, true);
  return false;
}

/// Forgets a device whose connection has ended or is to be ended.
void MqttListener::remove(const DevicePtr& device, bool with_will,
                          std::optional<std::uint32_t> expiry) {
  device->connection->close();
  bytes_ -= std::exchange(device->bytes, 0);
  devices_.erase(device);
  const auto greeted = greeted_.find(device->id);
  if (greeted == greeted_.end() || greeted->second != device) return;
  if (with_will && device->greeting->will) {
    reader_.take(device->greeting->will->topic, device->greeting->will->payload, arrived_);
  }
  greeted_.erase(greeted);
  sessions_.end(device->id, expiry, Clock::now());
}

/// The packets for the device that go out next.
std::string& MqttListener::answer(const DevicePtr& device) {
  if (answers_.empty() || answers_.back().device != device) answers_.push_back({device, ""});
  return answers_.back().packets;
}

void MqttListener::send(const Answers& answers) {
  for (const Answer& one : answers) one.device->connection->send(one.packets);
}

Result<Arrived> MqttListener::poll(std::chrono::milliseconds patience) {
  const bool was_open = port_ != nullptr;
  if (auto opened = open(); !opened) return opened.error();
  const auto start = Clock::now();
  if (start - last_poll_ > kBetweenLooks) since_ = start;
  reader_.begin_batch();
  loop_.run(
      start + (was_open ? patience : patience.zero()),
      [this] { return !arrived_.empty() || !answers_.empty() || sessions_.has_changed(); },
      [this] { return arrived_.full(); });
  last_poll_ = Clock::now();
  Arrived arrived = std::exchange(arrived_, {});
  Answers answers = std::exchange(answers_, {});
  // Answers keep their order, so they wait for those before them.
  if (arrived.empty() && !sessions_.has_changed() && (answers.empty() || uncommitted_.empty())) {
    send(answers);
    return {std::in_place, std::move(arrived)};
  }
  arrived.position = sessions_.save();
  uncommitted_.push_back(std::move(answers));
  return {std::in_place, std::move(arrived)};
}

void MqttListener::committed(const Position&) {
  if (uncommitted_.empty()) return;
  send(uncommitted_.front());
  uncommitted_.pop_front();
}

/// The sessions of now, which may be ahead of the position: to read a position takes as long as it
/// is large, and one is described for each batch.
std::string MqttListener::describe(const Position&) const {
  const std::size_t lasting = sessions_.lasting();
  return lasting == 0 ? "" : std::to_string(lasting) + " sessions that last";
}

}  // namespace gorgo::doors::mqtt

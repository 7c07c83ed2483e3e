#include "doors/syslog/syslog_source.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <utility>

namespace gorgo::doors::syslog {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

template <class Endpoint>
std::string name_of(const Endpoint& sender) {
  return sender.address().to_string() + ":" + std::to_string(sender.port());
}

}  // namespace

SyslogSource::SyslogSource(const Settings& settings, std::size_t most_senders)
    : settings_(settings), most_senders_(most_senders) {}

SyslogSource::~SyslogSource() = default;

Result<void> SyslogSource::open() {
  if (is_open()) return {};
  return listen_at(loop_.io(), settings_.listen, [this](const Tcp::endpoint& endpoint) {
    if (settings_.transport == "udp") {
      udp_ = std::make_unique<Udp::socket>(loop_.io(),
                                           Udp::endpoint(endpoint.address(), endpoint.port()));
      receive();
    } else {
      tcp_ = std::make_unique<TcpPort>(loop_.io(), endpoint,
                                       [this](Tcp::socket socket) { welcome(std::move(socket)); });
    }
  });
}

void SyslogSource::receive() {
  udp_->async_receive_from(asio::buffer(datagram_), from_,
                           [this](error_code failure, std::size_t size) {
                             if (failure == asio::error::operation_aborted) return;
                             if (!failure) take({datagram_.data(), size}, name_of(from_));
                             receive();
                           });
}

void SyslogSource::welcome(Tcp::socket socket) {
  error_code failure;
  const auto peer = socket.remote_endpoint(failure);
  if (failure) return;
  socket.set_option(asio::socket_base::keep_alive(true), failure);
  if (senders_.size() >= most_senders_) make_room();
  auto sender = std::make_shared<Sender>(std::move(socket));
  sender->name = name_of(peer);
  senders_.insert(sender);
  read(sender);
}

void SyslogSource::make_room() {
  const auto silent = std::ranges::min_element(
      senders_, {}, [](const std::shared_ptr<Sender>& one) { return one->heard; });
  const std::shared_ptr<Sender> sender = *silent;
  senders_.erase(silent);
  error_code ignored;
  sender->socket.close(ignored);  // which ends its `read`
}

void SyslogSource::read(const std::shared_ptr<Sender>& sender) {
  sender->socket.async_read_some(asio::buffer(sender->bytes),
                                 [this, sender](error_code failure, std::size_t size) {
                                   sender->heard = std::chrono::steady_clock::now();
                                   sender->cutter.fill({sender->bytes.data(), size});
                                   const bool goes_on = take_messages(*sender);
                                   if (!failure && goes_on) return read(sender);
                                   if (goes_on) take_rest(*sender, failure == asio::error::eof);
                                   senders_.erase(sender);
                                 });
}

bool SyslogSource::take_messages(Sender& sender) {
  while (true) {
    const auto message = sender.cutter.next();
    if (!message) {
      arrived_.dead.push_back({sender.name, message.error().message + "; the connection is closed",
                               sender.cutter.rest()});
      return false;
    }
    if (!*message) return true;
    take(**message, sender.name);
  }
}

/// Who ends a stream in order may leave out the end of the last message. What a lost connection
/// leaves may be a part of one.
void SyslogSource::take_rest(const Sender& sender, bool in_order) {
  const std::string_view rest = sender.cutter.rest();
  if (in_order && rest.starts_with('<')) return take(rest, sender.name);
  if (rest.empty()) return;
  arrived_.dead.push_back(
      {sender.name, "this is no message of syslog: the connection has ended within it", rest});
}

void SyslogSource::take(std::string_view message, const std::string& sender) {
  auto event = read_message(message);
  if (!event) {
    arrived_.dead.push_back({sender, event.error().message, message});
    return;
  }
  event->type = settings_.form.type.empty() ? "Syslog" : settings_.form.type;
  if (settings_.time == "arrival") event->timestamp.reset();
  arrived_.events.add(*event);
}

Result<Arrived> SyslogSource::poll(std::chrono::milliseconds patience) {
  const bool was_open = is_open();
  if (auto opened = open(); !opened) return opened.error();
  loop_.run(
      SocketLoop::Clock::now() + (was_open ? patience : patience.zero()),
      [this] { return !arrived_.empty(); }, [this] { return arrived_.full(); });
  return {std::in_place, std::exchange(arrived_, {})};
}

}  // namespace gorgo::doors::syslog

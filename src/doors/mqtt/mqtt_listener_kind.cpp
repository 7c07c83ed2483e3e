#include <boost/asio/buffer.hpp>
#include <utility>

#include "base/file.hpp"
#include "doors/kind.hpp"
#include "doors/mqtt/mqtt_listener.hpp"
#include "doors/topic.hpp"
#include "protocol/address.hpp"

namespace gorgo::doors {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using TlsContext = std::unique_ptr<asio::ssl::context>;

Result<void> check_listener(const Settings& settings) {
  constexpr std::int64_t kMostInFlight = 65535;
  const auto address = protocol::parse_address(settings.listen);
  if (!address) return Error{"listen: " + address.error().message, "listen = \"127.0.0.1:1883\""};
  if (settings.max_in_flight < 1 || settings.max_in_flight > kMostInFlight) {
    return Error{"max_in_flight: expected a number, 1 to 65535", ""};
  }
  if (settings.certificate.empty() != settings.certificate_key.empty()) {
    return Error{"certificate and certificate_key go together", ""};
  }
  if (auto checked = check_user(settings); !checked) return checked;
  if (settings.topics.empty()) {
    return Error{"topics: no topic is named", "topics = [\"sensors/{area}/{type}\"]"};
  }
  for (const std::string& topic : settings.topics) {
    if (const auto pattern = TopicPattern::make(topic); !pattern) return pattern.error();
  }
  return {};
}

/// Null: devices come in the clear. Devices are older than servers, so TLS 1.2 is spoken, too.
Result<TlsContext> tls_of(const Settings& settings) {
  if (settings.certificate.empty()) return TlsContext();
  const auto chain = read_regular_file(settings.certificate);
  if (!chain) return Error{"certificate: " + chain.error().message, chain.error().hint};
  const auto key = read_regular_file(settings.certificate_key);
  if (!key) return Error{"certificate_key: " + key.error().message, key.error().hint};
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  error_code failure;
  context->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, failure);
  context->use_certificate_chain(asio::buffer(*chain), failure);
  if (failure) return Error{"certificate: " + failure.message(), "it must be a PEM file"};
  context->use_private_key(asio::buffer(*key), asio::ssl::context::pem, failure);
  if (failure) return Error{"certificate_key: " + failure.message(), "it must be a PEM file"};
  return context;
}

Result<std::unique_ptr<Source>> make_listener(const std::string&, const Settings& settings,
                                              const Types& types, const Position& position) {
  mqtt::MqttListener::Secrets secrets;
  if (!settings.user.empty()) {
    auto password = password_of(settings);
    if (!password) return password.error();
    secrets.password = std::move(*password);
  }
  auto tls = tls_of(settings);
  if (!tls) return tls.error();
  secrets.tls = std::move(*tls);
  return {std::in_place,
          std::make_unique<mqtt::MqttListener>(settings, types, position, std::move(secrets))};
}

}  // namespace

Kind mqtt_listener_kind() {
  return {.name = "mqtt-listener",
          .keys = {key("listen", Way::in, &Settings::listen),
                   key("topics", Way::in, &Settings::topics), key("user", Way::in, &Settings::user),
                   key("password_file", Way::in, &Settings::password_file),
                   key("max_in_flight", Way::in, &Settings::max_in_flight),
                   key("certificate", Way::in, &Settings::certificate),
                   key("certificate_key", Way::in, &Settings::certificate_key)},
          .target = &Settings::listen,
          .check = check_listener,
          .exclusive = [](const Settings& settings) { return "TCP " + settings.listen; },
          .make_source = make_listener};
}

}  // namespace gorgo::doors

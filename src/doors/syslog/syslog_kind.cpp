#include "codec/names.hpp"
#include "doors/kind.hpp"
#include "doors/syslog/syslog_source.hpp"
#include "protocol/address.hpp"

namespace gorgo::doors {
namespace {

Result<void> check_syslog(const Settings& settings) {
  const auto address = protocol::parse_address(settings.listen);
  if (!address) return Error{"listen: " + address.error().message, "listen = \"127.0.0.1:5514\""};
  if (settings.transport != "udp" && settings.transport != "tcp") {
    return Error{"transport: '" + settings.transport + "' is unknown", "one of udp, tcp"};
  }
  if (settings.time != "arrival" && settings.time != "message") {
    return Error{"time: '" + settings.time + "' is unknown", "one of arrival, message"};
  }
  const std::string& type = settings.form.type;
  if (!type.empty() && !codec::is_event_type(type)) {
    return Error{"type: '" + type + "' is no name of a type", "type = \"Syslog\""};
  }
  return {};
}

}  // namespace

Kind syslog_kind() {
  return {.name = "syslog",
          .keys = {key("listen", Way::in, &Settings::listen),
                   key("transport", Way::in, &Settings::transport),
                   key("time", Way::in, &Settings::time), form_key("type", &codec::TextForm::type)},
          .has_payloads = false,
          .target = &Settings::listen,
          .check = check_syslog,
          .exclusive =
              [](const Settings& settings) {
                return (settings.transport == "udp" ? "UDP " : "TCP ") + settings.listen;
              },
          .make_source = [](const std::string&, const Settings& settings, const Types&,
                            const Position&) -> Result<std::unique_ptr<Source>> {
            return {std::in_place, std::make_unique<syslog::SyslogSource>(settings)};
          }};
}

}  // namespace gorgo::doors

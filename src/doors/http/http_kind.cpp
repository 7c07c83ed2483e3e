#include "doors/http/http_source.hpp"
#include "doors/kind.hpp"

namespace gorgo::doors {
namespace {

Result<void> check_http(const Settings& settings) {
  if (!settings.url.starts_with("http://") && !settings.url.starts_with("https://")) {
    return Error{"url: expected one of http or https",
                 "url = \"https://example.org/readings.csv\""};
  }
  if (settings.every < 1) return Error{"every: expected a number of seconds, at least 1", ""};
  if (auto checked = check_user(settings); !checked) return checked;
  return {};
}

}  // namespace

Kind http_kind() {
  return {.name = "http",
          .keys = {key("url", Way::in, &Settings::url), key("every", Way::in, &Settings::every),
                   key("user", Way::in, &Settings::user),
                   key("password_file", Way::in, &Settings::password_file),
                   key("ca", Way::in, &Settings::ca)},
          .has_lines = true,
          .target = &Settings::url,
          .check = check_http,
          .make_source = [](const std::string&, const Settings& settings, const Types& types,
                            const Position& position) -> Result<std::unique_ptr<Source>> {
            return {std::in_place, std::make_unique<http::HttpSource>(settings, types, position)};
          }};
}

}  // namespace gorgo::doors

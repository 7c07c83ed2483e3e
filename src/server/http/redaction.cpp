#include "server/http/redaction.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "server/security/name_patterns.hpp"

namespace gorgo::server::http {
namespace {

using Json = nlohmann::ordered_json;

bool fits(const std::string& pattern, std::string_view name) {
  return NamePatterns{.allow = {pattern}, .deny = {}}.allows(name);
}

}  // namespace

// Names of types may have dots, those of attributes have none.
Redaction::Redaction(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const std::size_t dot = pattern.rfind('.');
    if (dot == pattern.npos) continue;
    patterns_.emplace_back(pattern.substr(0, dot), pattern.substr(dot + 1));
  }
  if (is_empty()) return;
  // A reason quotes what is wrong in the payload.
  for (const char* attribute : {"payload", "reason"}) {
    patterns_.emplace_back("gorgo.DeadLetter", attribute);
  }
}

bool Redaction::hides(std::string_view type, std::string_view attribute) const {
  return std::ranges::any_of(patterns_, [&](const auto& pattern) {
    return fits(pattern.first, type) && fits(pattern.second, attribute);
  });
}

bool Redaction::hides_something_of(std::string_view type) const {
  return std::ranges::any_of(patterns_,
                             [&](const auto& pattern) { return fits(pattern.first, type); });
}

std::string without_values(std::string_view text) {
  std::string out;
  bool inside = false, quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (inside && c == '"') quoted = !quoted;
    if (inside && !quoted && c == '}') inside = false;
    if (!inside) out += c;
    if (!inside && c == '{') {
      inside = true;
      out += Redaction::kHidden;
    }
  }
  return out;
}

std::string without_hidden(const std::string& line, const Redaction& redaction) {
  Json event = Json::parse(line, nullptr, false);
  const bool is_event = event.is_object() && event.contains("type") && event.contains("attrs");
  if (!is_event) return std::string(Redaction::kHidden);
  const auto type = event["type"].get<std::string>();
  for (auto& [name, value] : event["attrs"].items()) {
    if (redaction.hides(type, name)) value = Redaction::kHidden;
  }
  return event.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<void> check_redaction(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const std::size_t dot = pattern.rfind('.');
    if (dot != pattern.npos && dot > 0 && dot + 1 < pattern.size()) continue;
    return Error{"http.redact: '" + pattern + "' names no attribute",
                 "write it as \"Type.attribute\"; * stands for any characters"};
  }
  return {};
}

}  // namespace gorgo::server::http

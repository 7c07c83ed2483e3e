#include "doors/topic.hpp"

#include <algorithm>
#include <variant>

#include "codec/names.hpp"
#include "codec/text.hpp"

namespace gorgo::doors {
namespace {

constexpr std::size_t kLongestTopic = 65535;  // bytes, as MQTT has it

std::vector<std::string> split(std::string_view topic) {
  std::vector<std::string> levels;
  while (true) {
    const std::size_t end = topic.find('/');
    levels.emplace_back(topic.substr(0, end));
    if (end == topic.npos) return levels;
    topic.remove_prefix(end + 1);
  }
}

bool is_placeholder(std::string_view level) {
  return level.size() > 2 && level.front() == '{' && level.back() == '}';
}

std::string_view name_in(std::string_view level) { return level.substr(1, level.size() - 2); }

Error wrong(const std::string& pattern, const std::string& why) {
  return {"the topic '" + pattern + "' " + why, "such as sensors/{area}/temp"};
}

Result<void> check_level(const std::string& pattern, std::string_view level, bool last,
                         bool wildcards) {
  if (is_placeholder(level)) {
    if (codec::is_word(name_in(level))) return {};
    return wrong(pattern, "has '" + std::string(level) + "', which names no attribute");
  }
  if (level.find_first_of("{}") != level.npos) {
    return wrong(pattern, "has a { or } within a level");
  }
  if (level.find_first_of("+#") == level.npos) return {};
  const bool whole = wildcards && (level == "+" || (level == "#" && last));
  if (whole) return {};
  return wrong(pattern, wildcards ? "has a wildcard that is not a level of its own"
                                  : "has a wildcard, and events go to one topic");
}

Result<void> check_levels(const std::string& pattern, bool wildcards) {
  if (pattern.empty() || pattern.size() > kLongestTopic) {
    return wrong(pattern, "is empty or longer than 65535 bytes");
  }
  if (!codec::is_valid_utf8(pattern) || pattern.find('\0') != pattern.npos) {
    return wrong(pattern, "is no text");
  }
  const auto levels = split(pattern);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    auto checked = check_level(pattern, levels[i], i + 1 == levels.size(), wildcards);
    if (!checked) return checked;
  }
  return {};
}

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string text;
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    codec::append_integer(text, *integer);
  if (const auto* real = std::get_if<double>(&value)) codec::append_float(text, *real);
  if (const auto* flag = std::get_if<bool>(&value)) text = *flag ? "true" : "false";
  return text;
}

std::string level_of(std::string_view name, const Event& event) {
  std::string text;
  if (name == "type") text = event.type;
  for (const Attribute& attribute : event.attributes) {
    if (name != "type" && attribute.name == name) text = text_of(attribute.value);
  }
  std::ranges::replace_if(
      text, [](char c) { return c == '/' || c == '+' || c == '#' || c == '\0'; }, '_');
  return text.empty() ? "_" : text;
}

}  // namespace

Result<TopicPattern> TopicPattern::make(const std::string& pattern) {
  if (auto checked = check_levels(pattern, true); !checked) return checked.error();
  TopicPattern made;
  made.levels_ = split(pattern);
  for (const std::string& level : made.levels_) {
    made.filter_ += (made.filter_.empty() ? "" : "/") + (is_placeholder(level) ? "+" : level);
  }
  return made;
}

std::optional<TopicContent> TopicPattern::match(std::string_view topic) const {
  const auto levels = split(topic);
  TopicContent content;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i] == "#") return content;
    if (i >= levels.size()) return std::nullopt;
    if (is_placeholder(levels_[i])) {
      const std::string name(name_in(levels_[i]));
      if (name == "type") {
        content.type = levels[i];
      } else {
        content.attributes.emplace_back(name, levels[i]);
      }
    } else if (levels_[i] != "+" && levels_[i] != levels[i]) {
      return std::nullopt;
    }
  }
  if (levels.size() != levels_.size()) return std::nullopt;
  return content;
}

Result<void> check_topic(const std::string& pattern) {
  if (pattern.empty()) return Error{"topic: no topic is named", "topic = \"alarms/{type}\""};
  return check_levels(pattern, false);
}

std::string topic_of(const std::string& pattern, const Event& event) {
  std::string topic;
  bool first = true;
  for (const std::string& level : split(pattern)) {
    if (!first) topic += '/';
    first = false;
    topic += is_placeholder(level) ? level_of(name_in(level), event) : level;
  }
  return topic;
}

}  // namespace gorgo::doors

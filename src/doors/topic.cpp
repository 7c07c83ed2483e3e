#include "doors/topic.hpp"

#include <cctype>
#include <variant>

#include "codec/names.hpp"
#include "codec/text.hpp"

namespace gorgo::doors {
namespace {

constexpr std::size_t kLongestTopic = 65535;  // bytes, as MQTT has it

std::vector<std::string> split(std::string_view topic, char separator) {
  std::vector<std::string> levels;
  while (true) {
    const std::size_t end = topic.find(separator);
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

/// Checks the levels of one pattern.
struct LevelCheck {
  const std::string& pattern;
  const TopicSyntax& syntax;
  bool wildcards;  ///< it may have some

  Result<void> operator()(std::string_view level, bool last) const {
    if (is_placeholder(level)) {
      if (codec::is_word(name_in(level))) return {};
      return wrong(pattern, "has '" + std::string(level) + "', which names no attribute");
    }
    if (level.find_first_of("{}") != level.npos) {
      return wrong(pattern, "has a { or } within a level");
    }
    if (level.find_first_of(syntax.forbidden) != level.npos) {
      return wrong(pattern, "has a blank or a zero byte");
    }
    const auto has = [&](std::string_view wildcard) {
      return !wildcard.empty() && level.find(wildcard) != level.npos;
    };
    const bool plain = !has(syntax.one) && !has(syntax.rest);
    if (plain) return {};
    if (!wildcards) return wrong(pattern, "has a wildcard, and events go to one topic");
    if (level == syntax.one || (level == syntax.rest && last)) return {};
    return wrong(pattern, "has a wildcard that is not a level of its own");
  }
};

Result<void> check_levels(const std::string& pattern, const TopicSyntax& syntax, bool wildcards) {
  if (pattern.empty() || pattern.size() > kLongestTopic) {
    return wrong(pattern, "is empty or longer than 65535 bytes");
  }
  if (!codec::is_valid_utf8(pattern)) return wrong(pattern, "is no text");
  const auto levels = split(pattern, syntax.separator);
  const LevelCheck check{pattern, syntax, wildcards};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    auto checked = check(levels[i], i + 1 == levels.size());
    if (!checked) return checked;
  }
  return {};
}

/// How many bytes the character at the beginning has.
std::size_t length_of_first(std::string_view text) {
  std::size_t length = 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
    ++length;
  return length;
}

/// Whether the character may stand in a level. Brokers of MQTT end the connection of a client that
/// sends control characters, or code points that Unicode keeps from being characters.
bool may_stand(std::string_view character, const TopicSyntax& syntax) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) {
    const char c = character.front();
    if (syntax.is_ascii) return std::isalnum(first) != 0 || c == '_' || c == '-';
    return first >= 0x20 && first != 0x7F && c != syntax.separator &&
           syntax.one.find(c) == syntax.one.npos && syntax.rest.find(c) == syntax.rest.npos &&
           syntax.forbidden.find(c) == syntax.forbidden.npos;
  }
  if (syntax.is_ascii) return false;
  const bool is_control = character >= "\xC2\x80" && character <= "\xC2\x9F";
  const bool is_kept_free = character >= "\xEF\xB7\x90" && character <= "\xEF\xB7\xAF";
  const bool is_last_of_a_plane =
      character.size() >= 3 &&
      (character.ends_with("\xBF\xBE") || character.ends_with("\xBF\xBF")) &&
      (character.size() == 3 ? first == 0xEF : (character[1] & 0x0F) == 0x0F);
  return !is_control && !is_kept_free && !is_last_of_a_plane;
}

std::string level_of(std::string_view name, const Event& event, const TopicSyntax& syntax) {
  std::string text, level;
  if (name == "type") text = event.type;
  for (const Attribute& attribute : event.attributes) {
    if (name != "type" && attribute.name == name) text = text_of(attribute.value);
  }
  for (std::string_view left = text; !left.empty();) {
    const std::string_view character = left.substr(0, length_of_first(left));
    level += may_stand(character, syntax) ? character : "_";
    left.remove_prefix(character.size());
  }
  return level.empty() ? "_" : level;
}

}  // namespace

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string text;
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    codec::append_integer(text, *integer);
  if (const auto* real = std::get_if<double>(&value)) codec::append_float(text, *real);
  if (const auto* flag = std::get_if<bool>(&value)) text = *flag ? "true" : "false";
  return text;
}

Result<TopicPattern> TopicPattern::make(const std::string& pattern, const TopicSyntax& syntax) {
  if (auto checked = check_levels(pattern, syntax, true); !checked) return checked.error();
  TopicPattern made;
  made.syntax_ = syntax;
  made.levels_ = split(pattern, syntax.separator);
  for (const std::string& level : made.levels_) {
    if (&level != &made.levels_.front()) made.filter_ += syntax.separator;
    made.filter_ += is_placeholder(level) ? syntax.one : level;
  }
  return made;
}

std::optional<TopicContent> TopicPattern::match(std::string_view topic) const {
  const auto levels = split(topic, syntax_.separator);
  TopicContent content;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const bool has_level = i < levels.size();
    if (levels_[i] == syntax_.rest) {
      if (has_level || syntax_.rest_may_be_empty) return content;
      return std::nullopt;
    }
    if (!has_level) return std::nullopt;
    if (is_placeholder(levels_[i])) {
      const std::string name(name_in(levels_[i]));
      if (name == "type") {
        content.type = levels[i];
      } else {
        content.attributes.emplace_back(name, levels[i]);
      }
    } else if (levels_[i] != syntax_.one && levels_[i] != levels[i]) {
      return std::nullopt;
    }
  }
  if (levels.size() != levels_.size()) return std::nullopt;
  return content;
}

Result<void> check_topic(const std::string& pattern, const TopicSyntax& syntax) {
  if (pattern.empty()) return Error{"topic: no topic is named", "topic = \"alarms/{type}\""};
  return check_levels(pattern, syntax, false);
}

std::string topic_of(const std::string& pattern, const Event& event, const TopicSyntax& syntax) {
  std::string topic;
  bool first = true;
  for (const std::string& level : split(pattern, syntax.separator)) {
    if (!first) topic += syntax.separator;
    first = false;
    topic += is_placeholder(level) ? level_of(name_in(level), event, syntax) : level;
  }
  if (topic.size() <= syntax.longest) return topic;
  std::size_t end = syntax.longest;
  while ((static_cast<unsigned char>(topic[end]) & 0xC0) == 0x80) --end;
  return topic.substr(0, end);
}

}  // namespace gorgo::doors

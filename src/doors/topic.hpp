#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"

namespace gorgo::doors {

/// How a broker writes topics: what stands between levels, and the wildcards for one level and for
/// all the rest.
struct TopicSyntax {
  char separator;
  std::string_view one, rest;
  bool rest_may_be_empty;
  std::string_view forbidden;  ///< bytes that no level has, beside the above
  std::size_t longest;         ///< bytes of a topic
  bool is_ascii = false;       ///< it has letters, digits, `_` and `-` only, of ASCII
};
inline constexpr TopicSyntax kMqttTopics{'/', "+", "#", true, {"\0", 1}, 65535};
/// Those of NATS, whose servers take lines of 4096 bytes.
inline constexpr TopicSyntax kSubjects{'.', "*", ">", false, {"\0 \t\r\n\f", 6}, 4000};
/// Those of Kafka, which have no wildcards.
inline constexpr TopicSyntax kKafkaTopics{'.', "", "", false, {"\0 \t\r\n/", 6}, 249, true};

/// What a topic says about the events that came in it.
struct TopicContent {
  std::string type;  ///< empty: it does not say
  std::vector<std::pair<std::string, std::string>> attributes;
};

/// Topics whose levels are attributes: "sensors/{area}/{type}". `{type}` is the type of the events;
/// wildcards are those of the broker.
class TopicPattern {
 public:
  static Result<TopicPattern> make(const std::string& pattern,
                                   const TopicSyntax& syntax = kMqttTopics);

  /// What a broker is asked for: "sensors/+/+".
  const std::string& filter() const { return filter_; }
  /// What the topic says; unset: it does not match.
  std::optional<TopicContent> match(std::string_view topic) const;

 private:
  TopicSyntax syntax_ = kMqttTopics;
  std::vector<std::string> levels_;
  std::string filter_;
};

/// A value as texts of others have it: without quotes.
std::string text_of(const Value& value);
/// Whether events can be sent to such a topic: "alarms/{type}/{area}", where `{area}` is an
/// attribute.
Result<void> check_topic(const std::string& pattern, const TopicSyntax& syntax = kMqttTopics);
/// The topic of an event. What levels cannot hold of a value becomes `_`, and so does an attribute
/// that is absent; a topic that is too long is cut.
std::string topic_of(const std::string& pattern, const Event& event,
                     const TopicSyntax& syntax = kMqttTopics);

}  // namespace gorgo::doors

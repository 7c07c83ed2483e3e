#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"

namespace gorgo::doors {

/// What a topic says about the events that came in it.
struct TopicContent {
  std::string type;  ///< empty: it does not say
  std::vector<std::pair<std::string, std::string>> attributes;
};

/// Topics whose levels are attributes: "sensors/{area}/{type}". `{type}` is the type of the events,
/// `+` and `#` are those of MQTT.
class TopicPattern {
 public:
  static Result<TopicPattern> make(const std::string& pattern);

  /// What a broker is asked for: "sensors/+/+".
  const std::string& filter() const { return filter_; }
  /// What the topic says; unset: it does not match.
  std::optional<TopicContent> match(std::string_view topic) const;

 private:
  std::vector<std::string> levels_;
  std::string filter_;
};

/// Whether events can be sent to such a topic: "alarms/{type}/{area}", where `{area}` is an
/// attribute.
Result<void> check_topic(const std::string& pattern);
/// The topic of an event. Levels cannot hold `/`, `+`, `#` and zero bytes of a value, which become
/// `_`; an attribute that is absent becomes `_`, too.
std::string topic_of(const std::string& pattern, const Event& event);

}  // namespace gorgo::doors

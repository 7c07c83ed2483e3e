#include "doors/message_reader.hpp"

#include <utility>

namespace gorgo::doors {

MessageReader::MessageReader(const Settings& settings, const Types& types,
                             const std::vector<std::string>& patterns, const TopicSyntax& syntax)
    : reader_(make_payload_reader(settings, types)) {
  for (const std::string& pattern : patterns) {
    patterns_.push_back(*TopicPattern::make(pattern, syntax));
  }
}

std::vector<std::string> MessageReader::filters() const {
  std::vector<std::string> filters;
  for (const TopicPattern& pattern : patterns_) filters.push_back(pattern.filter());
  return filters;
}

void MessageReader::take(std::string_view topic, std::string_view payload, Arrived& arrived) {
  std::optional<TopicContent> content;
  if (patterns_.empty()) content.emplace();
  for (const TopicPattern& pattern : patterns_) {
    if (!content) content = pattern.match(topic);
  }
  const auto read = content ? reader_->read(payload, &*content, arrived.events)
                            : Error{"no pattern in `topics` matches this topic", ""};
  if (read && *read == PayloadReader::Outcome::event) return;
  arrived.dead.push_back({std::string(topic),
                          read ? "the payload holds no event" : read.error().message,
                          std::string(payload)});
}

}  // namespace gorgo::doors

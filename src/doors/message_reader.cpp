#include "doors/message_reader.hpp"

#include <utility>

#include "codec/text.hpp"

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
  // What it says becomes attributes, which are texts.
  if (!codec::is_valid_utf8(topic) || topic.find('\0') != topic.npos) {
    arrived.dead.push_back({topic, "the topic is not UTF-8, or has a zero byte", payload});
    return;
  }
  std::optional<TopicContent> content;
  if (patterns_.empty()) content.emplace();
  for (const TopicPattern& pattern : patterns_) {
    if (!content) content = pattern.match(topic);
  }
  const auto read = content ? read_whole(payload, *content, arrived.events)
                            : Error{"no pattern in `topics` matches this topic", ""};
  if (!read) arrived.dead.push_back({topic, read.error().message, payload});
}

Result<void> MessageReader::read_whole(std::string_view payload, const TopicContent& topic,
                                       BatchBuilder& events) {
  const auto read = reader_->read(payload, &topic, events);
  if (!read) return read.error();
  if (auto ended = reader_->end(); !ended) return ended;
  if (*read == PayloadReader::Outcome::event) return {};
  return Error{"the payload holds no event", ""};
}

}  // namespace gorgo::doors

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "doors/door.hpp"
#include "doors/payload.hpp"
#include "doors/settings.hpp"
#include "doors/topic.hpp"

namespace gorgo::doors {

/// Makes events of messages that come in topics. One thread.
class MessageReader {
 public:
  /// Precondition: the patterns are right. Without any, topics say nothing.
  MessageReader(const Settings& settings, const Types& types,
                const std::vector<std::string>& patterns, const TopicSyntax& syntax);

  /// What a broker is asked for.
  std::vector<std::string> filters() const;
  /// Begins a batch: what was taken before is gone, and types may have changed.
  void begin_batch() { reader_->begin_batch(); }
  /// Adds the message's event to what has arrived, or a dead letter, which names the topic. Without
  /// patterns that may be the sender.
  void take(std::string_view topic, std::string_view payload, Arrived& arrived);

 private:
  const std::unique_ptr<PayloadReader> reader_;
  std::vector<TopicPattern> patterns_;

  Result<void> read_whole(std::string_view payload, const TopicContent& topic,
                          BatchBuilder& events);
};

}  // namespace gorgo::doors

#include "doors/syslog/message.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "codec/names.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::doors::syslog {
namespace {

/// Takes the parts of a message from the front of what is left.
class Parts {
 public:
  explicit Parts(std::string_view text) : left_(text) {}

  std::string_view left() const { return left_; }
  bool take(char c) {
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    return true;
  }
  /// A number of at most so many digits.
  std::optional<std::int64_t> number(std::size_t digits) {
    std::int64_t value = 0;
    const auto text = left_.substr(0, digits);
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || value < 0) return std::nullopt;
    left_.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    return value;
  }
  /// What stands before the next blank.
  std::string_view word() {
    const auto word = left_.substr(0, left_.find(' '));
    left_.remove_prefix(word.size());
    return word;
  }
  /// What stands before any of these.
  std::string_view until(std::string_view ends) {
    const auto word = left_.substr(0, left_.find_first_of(ends));
    left_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view left_;
};

Error no_syslog(const std::string& why) {
  return {"this is no message of syslog: " + why, "RFC 5424 says what one looks like"};
}

Error no_event(const std::string& why) {
  return {"no event can hold what the message says: " + why, "send it in several messages"};
}

/// A name of attributes. Enterprise numbers go, and so does what no name can have.
std::string name_of(std::string_view id, std::string_view parameter) {
  std::string name(id.substr(0, id.find('@')));
  name += '_';
  name += parameter;
  const auto is_bad = [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'));
  };
  std::ranges::replace_if(name, is_bad, '_');
  if (name.front() >= '0' && name.front() <= '9') name.insert(0, "_");
  return name;
}

/// Gives parameters names that differ: RFC 5424 lets one stand several times.
class Names {
 public:
  /// The name; where it is taken, with the first number from 2 that makes it another.
  std::string take(const std::string& name) {
    if (taken_.insert(name).second) return name;
    std::size_t& number = numbers_.try_emplace(name, 1).first->second;
    while (true) {
      std::string numbered = name + '_' + std::to_string(++number);
      if (taken_.insert(numbered).second) return numbered;
    }
  }

 private:
  // Structured data can have the name of one thing that the header says. That name is taken in
  // messages without it, too, so that it means the same in all of them.
  std::set<std::string> taken_ = {"message_id"};
  std::map<std::string, std::size_t> numbers_;  // the last one that was given
};

/// A parameter's value without its quotes, up to the closing one.
std::optional<std::string> take_value(Parts& parts) {
  if (!parts.take('"')) return std::nullopt;
  std::string value;
  while (true) {
    value += parts.until("\"\\");
    if (parts.take('"')) return value;
    if (!parts.take('\\')) return std::nullopt;
    const auto next = parts.left().substr(0, 1);
    // Before any other character a backslash is one.
    if (next.empty()) return std::nullopt;
    if (next != "\"" && next != "\\" && next != "]") value += '\\';
    value += next;
    parts.take(next.front());
  }
}

Result<void> add(Event& event, std::string name, std::string value) {
  if (!codec::is_event_name(name)) {
    return no_event("the name of a parameter is longer than " +
                    std::to_string(codec::kLongestName) + " bytes");
  }
  if (event.attributes.size() == codec::kMostAttributes) {
    return no_event("it has more than " + std::to_string(codec::kMostAttributes) + " attributes");
  }
  event.attributes.push_back({std::move(name), std::move(value)});
  return {};
}

Result<void> take_element(Parts& parts, Names& names, Event& event) {
  const auto id = parts.until(" ]");
  while (parts.take(' ')) {
    const auto parameter = parts.until("= ]\"");
    if (parameter.empty() || !parts.take('='))
      return no_syslog("a parameter has no name or no value");
    auto value = take_value(parts);
    if (!value) return no_syslog("the value of a parameter has no end");
    auto added = add(event, names.take(name_of(id, parameter)), std::move(*value));
    if (!added) return added;
  }
  if (!parts.take(']')) return no_syslog("structured data have no end");
  return {};
}

Result<void> take_structured_data(Parts& parts, Event& event) {
  if (parts.take('-')) return {};
  if (!parts.left().starts_with('[')) return no_syslog("structured data are missing");
  Names names;
  while (parts.take('[')) {
    if (auto taken = take_element(parts, names, event); !taken) return taken;
  }
  return {};
}

Result<void> take_header(Parts& parts, Event& event) {
  if (!parts.take('<')) return no_syslog("it does not begin with <");
  constexpr std::int64_t kMostPriority = 191;
  const auto priority = parts.number(3);
  if (!priority || *priority > kMostPriority || !parts.take('>'))
    return no_syslog("its priority is none");
  if (!parts.take('1') || !parts.take(' ')) return no_syslog("its version is not 1");
  event.attributes.push_back({"facility", *priority / 8});
  event.attributes.push_back({"severity", *priority % 8});
  const auto time = parts.word();
  if (time != "-") {
    const auto read = codec::parse_rfc3339(time);
    if (!read) return no_syslog("its time is none: " + read.error().message);
    event.timestamp = *read;
  }
  for (const char* name : {"host", "app", "process", "message_id"}) {
    if (!parts.take(' ')) return no_syslog("its header is not complete");
    const auto word = parts.word();
    if (word.empty()) return no_syslog("its header is not complete");
    if (word != "-") event.attributes.push_back({name, std::string(word)});
  }
  if (!parts.take(' ')) return no_syslog("its header is not complete");
  return {};
}

}  // namespace

Result<Event> read_message(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (!codec::is_valid_utf8(text)) return no_syslog("it is not UTF-8");
  Event event;
  Parts parts(text);
  auto taken = take_header(parts, event);
  if (taken) taken = take_structured_data(parts, event);
  if (!taken) return taken.error();
  if (parts.left().empty()) return event;
  if (!parts.take(' ')) return no_syslog("a blank is missing before the message");
  constexpr std::string_view kByteOrder = "\xEF\xBB\xBF";
  auto message = parts.left();
  if (message.starts_with(kByteOrder)) message.remove_prefix(kByteOrder.size());
  if (message.empty()) return event;
  if (auto added = add(event, "message", std::string(message)); !added) return added.error();
  return event;
}

Result<std::optional<std::string_view>> MessageCutter::next_counted(std::string_view left) {
  constexpr std::size_t kMostDigits = 7;
  const auto digits = left.substr(0, left.find(' '));
  if (digits.size() == left.size() && digits.size() < kMostDigits)
    return std::optional<std::string_view>();
  std::size_t size = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (digits.size() >= kMostDigits || read.ptr != digits.data() + digits.size() ||
      size > kMostMessage) {
    return no_syslog("the length before a message is none");
  }
  left.remove_prefix(digits.size() + 1);
  if (left.size() < size) return std::optional<std::string_view>();
  begin_ += digits.size() + 1 + size;
  return std::optional(left.substr(0, size));
}

Result<std::optional<std::string_view>> MessageCutter::next() {
  if (begin_ > kMostMessage) bytes_.erase(0, std::exchange(begin_, 0));
  while (begin_ < bytes_.size() && bytes_[begin_] == '\n') ++begin_;
  const std::string_view left = std::string_view(bytes_).substr(begin_);
  if (left.empty()) return std::optional<std::string_view>();
  if (left.front() >= '1' && left.front() <= '9') return next_counted(left);
  const auto line = left.substr(0, left.find('\n'));
  if (line.size() > kMostMessage) return no_syslog("a line is longer than 64 KiB");
  if (line.size() == left.size()) return std::optional<std::string_view>();
  begin_ += line.size() + 1;
  return std::optional(line);
}

std::string_view MessageCutter::rest() const { return std::string_view(bytes_).substr(begin_); }

}  // namespace gorgo::doors::syslog

#include "codec/event_line.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "codec/names.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::codec {
namespace {

using Json = nlohmann::json;

Error integer_too_large(std::string_view digits) {
  constexpr std::size_t kShown = 40;
  return {"integer " + std::string(digits.substr(0, kShown)) + " does not fit into 64 bits",
          "an int reaches from -9223372036854775808 to 9223372036854775807; larger numbers can be "
          "floats (1e19) or strings, where the type of the event has them so"};
}

/// Builds an event from the parser's calls, so that numbers are seen as they are written. Every
/// call returns whether parsing goes on; `error()` says why not.
class EventHandler {
 public:
  explicit EventHandler(Event& event) : event_(event) {
    event_.type.clear();
    event_.timestamp.reset();
  }

  std::optional<Error> finish() {
    event_.attributes.resize(used_);
    if (error_) return error_;
    if (seen_ == kTick) return std::nullopt;
    if (seen_ & kTick) return Error{"a tick has no other keys", R"(a tick is {"tick":1000})"};
    if (!(seen_ & kType)) return Error{"'type' is missing", kShape};
    return duplicate_attribute();
  }

  bool null() { return refuse("null is not a value", "leave the attribute out"); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(std::int64_t value) {
    return takes_time() ? take(from_milliseconds(value)) : scalar(value);
  }
  bool number_unsigned(std::uint64_t value) {
    if (value <= INT64_MAX) return number_integer(static_cast<std::int64_t>(value));
    const std::string digits = std::to_string(value);
    return takes_time() ? take(parse_milliseconds(digits)) : refuse(integer_too_large(digits));
  }
  bool number_float(double value, const std::string& text) {
    if (takes_time()) return take(parse_milliseconds(text));
    // An integer of many digits arrives here as well.
    if (text.find_first_of(".eE") == text.npos) return refuse(integer_too_large(text));
    return scalar(value);
  }
  bool string(std::string& value) {
    if (takes_time()) return take(parse_rfc3339(value));
    if (key_ != kType) return scalar(std::move(value));
    if (value == "*") return refuse("'*' stands for all types", "name one");
    if (!is_event_name(value)) return fail(bad_name(place()));
    event_.type = std::move(value);
    key_ = 0;
    return true;
  }
  bool binary(Json::binary_t&) { return refuse("binary data is not a value", kShape); }

  bool start_object(std::size_t) {
    if (depth_ == 0 || (depth_ == 1 && key_ == kAttrs)) {
      ++depth_;
      return true;
    }
    return refuse("a nested value", "attributes are numbers, strings and bools");
  }
  bool end_object() {
    if (--depth_ == 1) key_ = 0;
    return true;
  }
  bool start_array(std::size_t) {
    if (depth_ == 0) return fail({"a list is no event", "write one event a line"});
    return refuse("a nested value", "attributes are numbers, strings and bools");
  }
  bool end_array() { return true; }

  bool key(std::string& name) {
    if (depth_ == 2) {
      if (!is_event_name(name)) return fail(bad_name("an attribute"));
      if (used_ == kMostAttributes) return fail(too_many());
      if (used_ == event_.attributes.size()) event_.attributes.emplace_back();
      std::swap(event_.attributes[used_++].name, name);
      return true;
    }
    key_ = name == "type"    ? kType
           : name == "ts"    ? kTs
           : name == "attrs" ? kAttrs
           : name == "tick"  ? kTick
                             : 0;
    if (key_ == 0) return fail({"unknown key '" + name + "'", kShape});
    if (seen_ & key_) return fail({"key '" + name + "' stands twice", ""});
    seen_ |= key_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) {
    // "[json.exception.NAME.NUMBER] parse error at line L, column C: WHAT"
    std::string_view what = error.what();
    what.remove_prefix(std::min(what.size(), what.find("] ") + 2));
    if (what.starts_with("parse error")) what.remove_prefix(what.find(": ") + 2);
    return fail({"not JSON at column " + std::to_string(position) + ": " + std::string(what), ""});
  }

 private:
  static constexpr unsigned kType = 1, kTs = 2, kAttrs = 4, kTick = 8;
  static constexpr const char* kShape =
      R"(an event line is {"type":"Temp","ts":1000,"attrs":{"value":46.5}})";

  bool takes_time() const { return key_ == kTs || key_ == kTick; }
  /// What the value at hand belongs to, for messages.
  std::string place() const {
    if (depth_ == 2) return "attribute '" + event_.attributes[used_ - 1].name + "'";
    return key_ == kType    ? "'type'"
           : key_ == kTs    ? "'ts'"
           : key_ == kTick  ? "'tick'"
           : key_ == kAttrs ? "'attrs'"
                            : "the line";
  }
  bool fail(Error error) {
    error_ = std::move(error);
    return false;
  }
  bool refuse(const Error& error) { return fail({place() + ": " + error.message, error.hint}); }
  bool refuse(std::string what, std::string hint) {
    return refuse(Error{std::move(what), std::move(hint)});
  }
  bool take(const Result<Timestamp>& timestamp) {
    if (!timestamp) return refuse(timestamp.error());
    event_.timestamp = *timestamp;
    key_ = 0;
    return true;
  }
  template <class T>
  bool scalar(T&& value) {
    if (depth_ != 2) return wrong_kind();
    event_.attributes[used_ - 1].value = std::forward<T>(value);
    return true;
  }
  bool wrong_kind() {
    if (key_ == kType) return refuse("a string is expected", kShape);
    if (takes_time()) return refuse("a number or a string is expected", kShape);
    return refuse("an object is expected", kShape);
  }
  std::optional<Error> duplicate_attribute() const {
    std::vector<std::string_view> names;
    names.reserve(used_);
    for (const auto& attribute : event_.attributes) names.push_back(attribute.name);
    const auto found = repeated_name(names);
    return found ? std::optional(twice(*found)) : std::nullopt;
  }
  static Error bad_name(const std::string& place) {
    return {place + ": names have 1 to " + std::to_string(kLongestName) + " bytes", kShape};
  }
  static Error too_many() {
    return {"the event has more than " + std::to_string(kMostAttributes) + " attributes", ""};
  }
  static Error twice(std::string_view name) {
    return {"attribute '" + std::string(name) + "' stands twice", ""};
  }

  Event& event_;
  std::size_t used_ = 0;  // attributes filled; those behind are left from the event before
  unsigned depth_ = 0;    // 1: in the line's object, 2: in "attrs"
  unsigned key_ = 0;      // at depth 1: whose value comes next
  unsigned seen_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<void> read_event_line(std::string_view line, Event& event) {
  EventHandler handler(event);
  Json::sax_parse(line.begin(), line.end(), &handler);
  if (auto error = handler.finish()) return *std::move(error);
  return {};
}

Result<Event> read_event_line(std::string_view line) {
  Event event;
  if (const auto read = read_event_line(line, event); !read) return read.error();
  return event;
}

}  // namespace gorgo::codec

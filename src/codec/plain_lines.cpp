#include "codec/plain_lines.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/names.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::codec {
namespace {

namespace json = simdjson::ondemand;

template <class T>
std::optional<T> value_of(const Result<T>& result) {
  return result ? std::optional(*result) : std::nullopt;
}

/// A token without the space that may follow it.
std::string_view without_space(std::string_view token) {
  const auto last = token.find_last_not_of(" \t\r\n");
  return token.substr(0, last == token.npos ? 0 : last + 1);
}

/// The number that a token spells. Integers beyond 64 bits are none. simdjson reads some floats of
/// 19 and more digits as 0, so it only says where the token is.
std::optional<Datum> number_of(std::string_view token) {
  const std::string_view text = without_space(token);
  const auto kind = number_kind(text);
  return kind ? value_of(datum_from_text(text, *kind)) : std::nullopt;
}

std::optional<Datum> boolean_of(json::value& value) {
  bool boolean = false;
  if (value.get_bool().get(boolean) != simdjson::SUCCESS) return std::nullopt;
  return Datum::of(boolean);
}

}  // namespace

class PlainLines::Parser {
 public:
  const PlainLine* read(std::string_view line) {
    if (line.size() > kLongest) return nullptr;
    // A surrogate without its other half is spelt as an escape, and only the careful reader finds
    // it.
    escapes_ = line.find('\\') != line.npos;
    if (escapes_ && line.find("\\u") != line.npos) return nullptr;
    json::document document;
    return load(line, document) && read(document) ? &line_ : nullptr;
  }
  std::size_t memory() const { return bytes_.capacity() + parser_.capacity() * kPerByte; }

 private:
  // Bounds the memory.
  static constexpr std::size_t kLongest = 16 << 10;
  // simdjson has an index of 4 bytes and nearly 2 bytes of text for each byte of a line.
  static constexpr std::size_t kPerByte = 6;
  static constexpr unsigned kType = 1, kTime = 2, kAttributes = 4, kTick = 8;

  /// simdjson reads some bytes beyond the line, so it gets a copy with room behind it.
  bool load(std::string_view line, json::document& document) {
    const std::size_t needed = line.size() + simdjson::SIMDJSON_PADDING;
    if (bytes_.size() < needed) bytes_.resize(2 * needed);
    line.copy(bytes_.data(), line.size());
    if (parser_.capacity() < line.size() && parser_.allocate(bytes_.size()) != simdjson::SUCCESS) {
      return false;
    }
    end_ = bytes_.data() + line.size();
    return parser_.iterate(bytes_.data(), line.size(), bytes_.size()).get(document) ==
           simdjson::SUCCESS;
  }

  /// Reads all of the line. False: it is no event, or an unusual one.
  bool read(json::document& document) {
    seen_ = 0;
    line_.type = {};
    line_.timestamp.reset();
    line_.names.clear();
    line_.values.clear();
    json::object line;
    if (document.get_object().get(line) != simdjson::SUCCESS) return false;
    for (auto field : line) {
      if (field.error() != simdjson::SUCCESS || !read_field(field)) return false;
    }
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) return false;
    if ((seen_ & kTick) != 0) return seen_ == kTick;
    return (seen_ & kType) != 0 && !repeated_name(line_.names);
  }

  bool read_field(simdjson::simdjson_result<json::field>& field) {
    const json::raw_json_string key = field.key().value_unsafe();
    json::value value = field.value().value_unsafe();
    if (key == "type") return note(kType) && read_type(value);
    if (key == "ts") return note(kTime) && read_time(value);
    if (key == "attrs") return note(kAttributes) && read_attributes(value);
    return key == "tick" && note(kTick) && read_time(value);
  }

  /// Whether a key stands for the first time.
  bool note(unsigned key) {
    const bool first = (seen_ & key) == 0;
    seen_ |= key;
    return first;
  }

  bool read_type(json::value& value) {
    const auto text = string_of(value);
    if (!text || !is_event_type(*text)) return false;
    line_.type = *text;
    return true;
  }

  bool read_time(json::value& value) {
    const std::string_view token = value.raw_json_token();
    if (token.front() == '"') {
      const auto text = string_of(value);
      if (text) line_.timestamp = value_of(parse_rfc3339(*text));
      return line_.timestamp.has_value();
    }
    const std::string_view text = without_space(token);
    if (number_kind(text)) line_.timestamp = value_of(parse_milliseconds(text));
    return line_.timestamp.has_value();
  }

  bool read_attributes(json::value& value) {
    json::object attributes;
    if (value.get_object().get(attributes) != simdjson::SUCCESS) return false;
    for (auto field : attributes) {
      if (field.error() != simdjson::SUCCESS) return false;
      const auto name = name_of(field);
      if (!name || !is_event_name(*name) || line_.names.size() == kMostAttributes) return false;
      json::value attribute = field.value().value_unsafe();
      const auto datum = datum_of(attribute);
      if (!datum) return false;
      line_.names.push_back(*name);
      line_.values.push_back(*datum);
    }
    return true;
  }

  std::optional<Datum> datum_of(json::value& value) const {
    const std::string_view token = value.raw_json_token();
    switch (token.front()) {
      case '"': {
        const auto text = string_of(value);
        return text ? std::optional(Datum::of(*text)) : std::nullopt;
      }
      case 't':
      case 'f':
        return boolean_of(value);
      default:
        return number_of(token);  // and nothing for what is none
    }
  }

  std::optional<std::string_view> string_of(json::value& value) const {
    std::string_view text;
    json::raw_json_string raw;
    if (!escapes_ && value.get_raw_json_string().get(raw) == simdjson::SUCCESS) return text_of(raw);
    if (value.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
    return text;
  }

  std::optional<std::string_view> name_of(simdjson::simdjson_result<json::field>& field) const {
    if (!escapes_) return text_of(field.key().value_unsafe());
    std::string_view name;
    if (field.unescaped_key().get(name) != simdjson::SUCCESS) return std::nullopt;
    return name;
  }

  /// Without escapes a text is what stands between the quotes.
  std::optional<std::string_view> text_of(json::raw_json_string raw) const {
    const char* begin = raw.raw();
    const auto* end =
        static_cast<const char*>(std::memchr(begin, '"', static_cast<std::size_t>(end_ - begin)));
    if (end == nullptr) return std::nullopt;
    return std::string_view(begin, static_cast<std::size_t>(end - begin));
  }

  json::parser parser_;
  std::vector<char> bytes_;
  const char* end_ = nullptr;  // of the line within `bytes_`
  bool escapes_ = false;       // there is a backslash in the line
  unsigned seen_ = 0;          // the keys that have come
  PlainLine line_;             // refers to `bytes_` and to the parser's memory
};

PlainLines::PlainLines() : parser_(std::make_unique<Parser>()) {}
PlainLines::~PlainLines() = default;

const PlainLine* PlainLines::read(std::string_view line) { return parser_->read(line); }

std::size_t PlainLines::memory() const { return parser_->memory(); }

void PlainLine::add_to(BatchBuilder& batch) const {
  batch.add(type, timestamp);
  for (std::size_t i = 0; i < names.size(); ++i) batch.attribute(names[i], values[i]);
}

}  // namespace gorgo::codec

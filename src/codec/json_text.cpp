#include "codec/json_text.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "codec/timestamp.hpp"

namespace gorgo::codec {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Writes values that stand in each other.
class JsonWriter {
 public:
  explicit JsonWriter(int indent) : indent_(indent) {}

  std::string text() && { return std::move(text_); }

  void write(const OrderedJson& json) {
    if (json.is_object()) {
      write_members(json, '{', '}');
    } else if (json.is_array()) {
      write_members(json, '[', ']');
    } else if (json.is_binary()) {
      const auto& bytes = json.get_binary();
      text_.append(bytes.begin(), bytes.end());
    } else {
      write_scalar(json);
    }
  }

 private:
  void write_scalar(const OrderedJson& json) {
    text_ += json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  }

  void write_members(const OrderedJson& json, char open, char close) {
    text_ += open;
    ++level_;
    for (auto member = json.begin(); member != json.end(); ++member) {
      if (member != json.begin()) text_ += ',';
      begin_line();
      if (json.is_object()) {
        write_scalar(member.key());
        text_ += indent_ < 0 ? ":" : ": ";
      }
      write(*member);
    }
    --level_;
    if (!json.empty()) begin_line();
    text_ += close;
  }

  void begin_line() {
    if (indent_ < 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_) * level_, ' ');
  }

  const int indent_;
  std::size_t level_ = 0;
  std::string text_;
};

}  // namespace

// Text that was read never gives a binary value, so that one always is a number from here.
OrderedJson exact_milliseconds(Timestamp timestamp) {
  std::string digits;
  append_milliseconds(digits, timestamp);
  return OrderedJson::binary({digits.begin(), digits.end()});
}

std::string json_text(const OrderedJson& json, int indent) {
  JsonWriter writer(indent);
  writer.write(json);
  return std::move(writer).text();
}

}  // namespace gorgo::codec

#include "doors/payload.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "codec/csv.hpp"
#include "codec/event_text.hpp"
#include "codec/names.hpp"
#include "codec/parse_json.hpp"
#include "codec/text_form.hpp"
#include "doors/door.hpp"
#include "doors/kind.hpp"

namespace gorgo::doors {
namespace {

using OrderedJson = nlohmann::ordered_json;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// What the topic says comes first, so that a payload that says something else has it twice and is
/// refused.
void add_topic(const TopicContent* topic, Event& event) {
  if (topic == nullptr) return;
  if (event.type.empty()) event.type = topic->type;
  for (const auto& [name, text] : topic->attributes) event.attributes.push_back({name, text});
}

/// Adds it to the event that the batch had last.
void add_topic(const TopicContent* topic, BatchBuilder& batch) {
  if (topic == nullptr) return;
  for (const auto& [name, text] : topic->attributes) {
    batch.attribute(name, Datum::of(std::string_view(text)));
  }
}

/// Readers of files number lines, which says nothing where a dead letter has its place.
Error without_line_number(const Error& error) {
  const std::size_t colon = error.message.find(": ");
  const bool is_numbered = error.message.starts_with("line ") && colon != std::string::npos;
  return {is_numbered ? error.message.substr(colon + 2) : error.message, error.hint};
}

/// The lines name the type, so it is never the topic that does.
class EventLines : public PayloadReader {
 public:
  Result<Outcome> read(std::string_view text, const TopicContent* topic,
                       BatchBuilder& batch) override {
    if (is_blank(text)) return Outcome::nothing;
    const auto read = reader_->next(text, batch);
    if (!read) return without_line_number(read.error());
    if (read->kind == codec::LineContent::Kind::tick) return Error{"a tick is no event", ""};
    add_topic(topic, batch);
    return Outcome::event;
  }

 private:
  const std::unique_ptr<codec::EventReader> reader_ = codec::make_line_reader();
};

/// Objects of JSON: the members are attributes, those of nested objects with the names of both.
class JsonObjects : public PayloadReader {
 public:
  explicit JsonObjects(const Settings& settings)
      : settings_(settings), times_(*codec::times_of(settings.form)) {}

  Result<Outcome> read(std::string_view text, const TopicContent* topic,
                       BatchBuilder& batch) override {
    if (is_blank(text)) return Outcome::nothing;
    const auto read = codec::read_json<OrderedJson>(text);
    const OrderedJson& json = read.value;
    if (json.is_discarded()) return Error{"the payload is no JSON", ""};
    if (!json.is_object())
      return Error{"the payload is no JSON object", "such as {\"value\": 46.5}"};
    if (read.repeated) return Error{"a member of an object stands twice", ""};
    event_ = {};
    event_.type = settings_.form.type;
    if (auto taken = take_members(json, "", 0); !taken) return taken.error();
    add_topic(topic, event_);
    if (!codec::is_event_type(event_.type)) {
      return Error{event_.type.empty() ? "nothing says the type of the event"
                                       : "'" + event_.type + "' is no name of a type",
                   "set `type` or `type_column`, or have {type} in the topic"};
    }
    batch.add(event_);
    return Outcome::event;
  }

 private:
  static constexpr int kDeepest = 16;

  const Settings settings_;
  const codec::TimeFormat times_;
  Event event_;

  Result<void> take_members(const OrderedJson& object, const std::string& prefix, int depth) {
    if (depth > kDeepest) return Error{"the objects are nested too deeply", ""};
    for (const auto& [key, value] : object.items()) {
      auto taken = take(prefix + key, value, depth);
      if (!taken) return taken;
    }
    return {};
  }

  Result<void> take(const std::string& name, const OrderedJson& value, int depth) {
    if (value.is_null()) return {};
    if (name == settings_.form.time_column) return take_time(value);
    if (settings_.form.type.empty() && name == settings_.form.type_column && value.is_string()) {
      event_.type = value.get<std::string>();
      return {};
    }
    if (value.is_object()) return take_members(value, name + "_", depth + 1);
    const auto renamed = settings_.form.rename.find(name);
    const std::string& attribute = renamed == settings_.form.rename.end() ? name : renamed->second;
    if (!codec::is_event_name(attribute)) {
      return Error{"'" + attribute + "' is no name of an attribute", ""};
    }
    if (event_.attributes.size() == codec::kMostAttributes) {
      return Error{
          "the event has more than " + std::to_string(codec::kMostAttributes) + " attributes", ""};
    }
    auto taken = value_of(name, value);
    if (!taken) return taken.error();
    event_.attributes.push_back({attribute, std::move(*taken)});
    return {};
  }

  static Result<Value> value_of(const std::string& name, const OrderedJson& value) {
    if (value.is_string()) return Value(value.get<std::string>());
    if (value.is_boolean()) return Value(value.get<bool>());
    if (value.is_number_float()) return Value(value.get<double>());
    const bool fits = !value.is_number_unsigned() ||
                      value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
    if (value.is_number() && fits) return Value(value.get<std::int64_t>());
    return Error{"'" + name + "' is " +
                     (value.is_array() ? "an array" : "an integer beyond 64 bits") +
                     ", which no attribute can hold",
                 ""};
  }

  Result<void> take_time(const OrderedJson& value) {
    if (!value.is_string() && !value.is_number()) {
      return Error{"'" + settings_.form.time_column + "' is no time", ""};
    }
    const auto time = times_.parse(value.is_string() ? value.get<std::string>() : value.dump());
    if (!time)
      return Error{settings_.form.time_column + ": " + time.error().message, time.error().hint};
    event_.timestamp = *time;
    return {};
  }
};

/// Whether a line ends within the text and outside of quotes.
bool has_rows_behind(std::string_view text) {
  if (text.find('\n') == text.npos) return false;  // as in each line of a file
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted && c == '\n') return true;
  }
  return false;
}

/// The reader of CSV wants a batch of its own events, and numbers lines: neither is shown here.
class CsvLines : public PayloadReader {
 public:
  CsvLines(const Settings& settings, Types types)
      : form_(codec::csv_form(settings.form)),
        types_(std::move(types)),
        given_(!settings.columns.empty()) {
    for (const std::string& column : settings.columns) {
      if (!header_.empty()) header_ += form_.separator;
      codec::append_csv_cell(header_, column);
    }
  }

  void begin_batch() override {
    const auto types = types_();
    if (reader_ != nullptr && (open_ || types->version() == schema_->version())) return;
    schema_ = types;
    reader_ = nullptr;
  }

  Result<void> header(std::string_view line) override {
    header_ = line;
    open_ = false;
    const auto made = make_reader();
    if (made) return {};
    return Error{"the header is refused, and no row behind it is read: " + made.error().message,
                 made.error().hint};
  }
  bool has_header() const override { return !given_; }

  Result<Outcome> read(std::string_view text, const TopicContent* topic,
                       BatchBuilder& batch) override {
    using Kind = codec::LineContent::Kind;
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    if (!open_) record_.clear();
    if (!open_ && is_blank(text)) return Outcome::nothing;
    if (!open_ && has_rows_behind(text)) {
      return Error{"the message has several rows of CSV", "send a message for each row"};
    }
    if (reader_ == nullptr) {
      if (auto made = make_reader(); !made) return made.error();
    }
    const auto read = reader_->next(text, batch);
    if (!read) {
      const Error why = without_line_number(read.error());
      if (reader_->broken()) reader_ = nullptr;
      if (open_) keep(text);
      open_ = false;
      return why;
    }
    open_ = read->kind == Kind::nothing;
    if (open_) {
      keep(text);
      keep("\n");
      return Outcome::open;
    }
    add_topic(topic, batch);
    return Outcome::event;
  }
  Result<void> end() override {
    if (!std::exchange(open_, false)) return {};
    const auto reader = std::exchange(reader_, nullptr);
    return without_line_number(reader->finish().error());
  }
  std::string_view refused(std::string_view text) const override {
    return record_.empty() ? text : std::string_view(record_);
  }

 private:
  const codec::CsvForm form_;
  const Types types_;
  const bool given_;
  std::string header_;
  std::shared_ptr<const Schema> schema_;  // outlives the reader
  std::unique_ptr<codec::EventReader> reader_;
  bool open_ = false;   // within a quoted cell
  std::string record_;  // the beginning of one of several lines

  void keep(std::string_view text) {
    record_ += text.substr(0, DeadLetter::kMost - std::min(DeadLetter::kMost, record_.size()));
  }
  Result<void> make_reader() {
    if (schema_ == nullptr) schema_ = types_();
    reader_ = codec::make_csv_reader(form_, schema_.get());
    BatchBuilder none;
    const auto read = reader_->next(header_, none);
    const auto whole = reader_->finish();
    if (read && whole && !is_blank(header_)) return {};
    reader_ = nullptr;
    if (read && whole) return Error{"it is blank", "the first line says what the columns are"};
    return without_line_number(read ? whole.error() : read.error());
  }
};

}  // namespace

std::unique_ptr<PayloadReader> make_payload_reader(const Settings& settings, const Types& types) {
  if (settings.format == "csv") return std::make_unique<CsvLines>(settings, types);
  if (settings.format == "json") return std::make_unique<JsonObjects>(settings);
  return std::make_unique<EventLines>();
}

namespace {

/// Refuses keys that change nothing, because whoever gave them expects something of them.
Result<void> check_keys_of_format(const Settings& settings) {
  const bool is_json = settings.format == "json";
  std::vector<const char*> idle;
  if (settings.format == "events") {
    idle = {"type", "type_column", "time_column", "time_format",
            "zone", "separator",   "columns",     "rename"};
  }
  if (is_json) idle = {"separator", "columns"};
  for (const char* key : idle) {
    if (!settings.given.contains(key)) continue;
    return Error{std::string(key) + " says nothing about " + (is_json ? "JSON" : "event lines"),
                 is_json ? "leave it out, or format = \"csv\""
                         : "add format = \"json\" or format = \"csv\""};
  }
  if (settings.given.contains("type") && settings.given.contains("type_column")) {
    return Error{"type_column says nothing where `type` stands, which is the type of all events",
                 "leave one of them out"};
  }
  return {};
}

Result<void> check_messages_of_csv(const Settings& settings) {
  if (settings.columns.empty()) {
    return Error{"columns: messages of CSV have no header", "columns = [\"ts\", \"value\"]"};
  }
  std::vector<std::string> topics = settings.topics;
  if (settings.subscribe.empty()) topics.push_back(settings.topic);
  for (const std::string& topic : topics) {
    if (topic.find("{type}") == topic.npos) continue;
    return Error{"{type} in '" + topic + "' says nothing about messages of CSV",
                 "write a wildcard in its place, and set type or type_column"};
  }
  return {};
}

}  // namespace

Result<void> check_form(const Settings& settings) {
  const bool known =
      settings.format == "events" || settings.format == "json" || settings.format == "csv";
  if (!known) {
    return Error{"format: '" + settings.format + "' is unknown", "one of events, json, csv"};
  }
  if (const auto times = codec::times_of(settings.form); !times) {
    return Error{"time_format, zone: " + times.error().message, times.error().hint};
  }
  if (const auto separator = codec::separator_of(settings.form); !separator) {
    return Error{"separator: " + separator.error().message, separator.error().hint};
  }
  if (settings.format == "csv" && !find_kind(settings.kind)->has_lines) {
    if (auto checked = check_messages_of_csv(settings); !checked) return checked;
  }
  return check_keys_of_format(settings);
}

}  // namespace gorgo::doors

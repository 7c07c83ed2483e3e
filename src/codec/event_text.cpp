#include "codec/event_text.hpp"

#include <cmath>

#include "codec/event_line.hpp"
#include "codec/plain_lines.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::codec {
namespace {

class LineReader final : public EventReader {
 public:
  Result<LineContent> next(std::string_view line, BatchBuilder& batch) override {
    ++number_;
    if (line.find_first_not_of(" \t\r") == line.npos) return LineContent();
    if (const PlainLine* const plain = plain_.read(line)) {
      if (plain->is_tick()) return LineContent{LineContent::Kind::tick, *plain->timestamp};
      plain->add_to(batch);
      return LineContent{LineContent::Kind::event};
    }
    if (const auto read = read_event_line(line, event_); !read) {
      return Error{"line " + std::to_string(number_) + ": " + read.error().message,
                   read.error().hint};
    }
    if (is_tick(event_)) return LineContent{LineContent::Kind::tick, *event_.timestamp};
    batch.add(event_);
    return LineContent{LineContent::Kind::event};
  }
  Result<void> finish() override { return {}; }
  std::uint64_t line() const override { return number_; }
  bool broken() const override { return false; }

 private:
  PlainLines plain_;
  std::uint64_t number_ = 0;
  // Holds a line until its end is seen: the type may stand behind the attributes.
  Event event_;
};

class LineWriter final : public EventWriter {
 public:
  explicit LineWriter(TimeStyle times = TimeStyle::milliseconds) : times_(times) {}

  void begin(std::string& out, std::string_view type, std::optional<Timestamp> timestamp) override {
    out += "{\"type\":";
    append_json_string(out, type);
    if (timestamp) {
      out += ",\"ts\":";
      append_time(out, *timestamp);
    }
    out += ",\"attrs\":{";
    first_ = true;
  }
  void attribute(std::string& out, std::string_view name, const Datum& value) override {
    if (!first_) out += ',';
    first_ = false;
    append_json_string(out, name);
    out += ':';
    append_value(out, value);
  }
  void end(std::string& out) override { out += "}}\n"; }

 private:
  void append_time(std::string& out, Timestamp timestamp) const {
    if (times_ == TimeStyle::milliseconds) return append_milliseconds(out, timestamp);
    out += '"';
    append_rfc3339(out, timestamp);
    out += '"';
  }
  static void append_value(std::string& out, const Datum& value) {
    switch (value.type()) {
      case ValueType::integer:
        append_integer(out, value.integer);
        return;
      case ValueType::floating: {
        const bool number = std::isfinite(value.floating);
        if (!number) out += '"';
        append_float(out, value.floating);
        if (!number) out += '"';
        return;
      }
      case ValueType::boolean:
        out += value.boolean ? "true" : "false";
        return;
      case ValueType::string:
        append_json_string(out, value.text());
        return;
    }
  }

  const TimeStyle times_;
  bool first_ = true;
};

}  // namespace

void EventWriter::write(std::string& out, const Event& event) {
  begin(out, event.type, event.timestamp);
  for (const auto& [name, value] : event.attributes) attribute(out, name, to_datum(value));
  end(out);
}

void append_event_line(std::string& out, const Event& event) {
  if (!is_tick(event)) return LineWriter().write(out, event);
  out += "{\"tick\":";
  append_milliseconds(out, *event.timestamp);
  out += "}\n";
}

std::unique_ptr<EventReader> make_line_reader() { return std::make_unique<LineReader>(); }

std::unique_ptr<EventWriter> make_line_writer(TimeStyle times) {
  return std::make_unique<LineWriter>(times);
}

}  // namespace gorgo::codec

#include "server/http/delivery_text.hpp"

#include <algorithm>

#include "protocol/batch.hpp"
#include "server/http/place_text.hpp"

namespace gorgo::server::http {
namespace {

// So much text is kept of deliveries that are on their way.
constexpr std::size_t kMostText = std::size_t{16} << 20;

constexpr auto kAllRows = [](std::uint32_t) { return true; };

/// Calls `take(line, place)` for each row that is wanted with its event line, without an end.
template <class IsWanted, class Take>
void for_each_line(const SharedDelivery& delivery, const Redaction& redaction, IsWanted is_wanted,
                   Take take) {
  const auto writer = codec::make_line_writer();
  std::string line;
  BatchCursor event(protocol::view_of(*delivery.deliver().batch()));
  for (; !event.done(); event.advance()) {
    if (!is_wanted(event.position())) continue;
    line.clear();
    append_line(line, *writer, event, event.timestamp(), redaction);
    take(line, text_of(delivery.place(event.position())));
  }
}

}  // namespace

std::string_view RowTexts::of(std::uint32_t first, std::uint32_t rows) const {
  const std::size_t begin = first == 0 ? 0 : ends[first - 1];
  return std::string_view(text).substr(begin, ends[first + rows - 1] - begin);
}

void append_line(std::string& out, codec::EventWriter& writer, const BatchCursor& event,
                 std::optional<Timestamp> timestamp, const Redaction& redaction) {
  const std::string_view type = event.table().type;
  writer.begin(out, type, timestamp);
  for (const EventColumn& column : event.table().columns) {
    const Datum value = event.value(column);
    if (!value.exists()) continue;
    const bool hidden = redaction.hides(type, column.name);
    writer.attribute(out, column.name, hidden ? Datum::of(Redaction::kHidden) : value);
  }
  writer.end(out);
  out.pop_back();
}

RowTexts event_texts(const SharedDelivery& delivery, const Redaction& redaction) {
  RowTexts rows;
  for_each_line(
      delivery, redaction, kAllRows, [&](const std::string& line, const std::string& place) {
        rows.text.append("id: ").append(place).append("\ndata: ").append(line).append("\n\n");
        rows.ends.push_back(rows.text.size());
      });
  return rows;
}

RowTexts message_texts(const SharedDelivery& delivery, const Redaction& redaction) {
  RowTexts rows;
  for_each_line(delivery, redaction, kAllRows, [&](std::string& line, const std::string& place) {
    line.pop_back();  // its last brace
    rows.text.append(line).append(",\"id\":\"").append(place).append("\"");
    rows.ends.push_back(rows.text.size());
  });
  return rows;
}

std::shared_ptr<const RowTexts> TextCache::of(
    const std::shared_ptr<const SharedDelivery>& delivery) {
  const auto known = entries_.find(delivery->number());
  if (known != entries_.end()) return known->second.texts;
  auto texts = std::make_shared<const RowTexts>(make_(*delivery));
  bytes_ += texts->text.capacity();
  entries_.emplace(delivery->number(), Entry{delivery, texts});
  while (!entries_.empty() && (bytes_ > kMostText || entries_.begin()->second.delivery.expired())) {
    drop_oldest();
  }
  memory_.resize(bytes_);
  return texts;
}

void TextCache::drop_oldest() {
  bytes_ -= entries_.begin()->second.texts->text.capacity();
  entries_.erase(entries_.begin());
}

std::uint32_t Sample::admit(std::uint32_t rows, Time now) {
  const bool is_first = looked_ == Time::min();
  const std::chrono::duration<double> passed = is_first ? Time::duration(0) : now - looked_;
  looked_ = now;
  may_pass_ = std::min(most_, may_pass_ + most_ * passed.count());
  const auto passing = static_cast<std::uint32_t>(std::min<double>(rows, may_pass_));
  may_pass_ -= passing;
  left_out_ += rows - passing;
  return passing;
}

void append_sample(std::string& out, const ClientDelivery& delivery, Sample& sample,
                   const Redaction& redaction) {
  if (delivery.lost.rows > 0) append_event(out, "gap", gap_text(delivery.lost));
  const std::uint32_t passing = sample.admit(delivery.rows, std::chrono::steady_clock::now());
  if (passing == 0) return;
  // The rows that pass are spread over the delivery.
  std::uint32_t row = 0, passed = 0;
  for_each_line(
      *delivery.shared, redaction,
      [&](std::uint32_t position) {
        if (position < delivery.first || position >= delivery.first + delivery.rows) return false;
        const std::uint64_t due = std::uint64_t{passing} * ++row / delivery.rows;
        return due > passed;
      },
      [&](const std::string& line, const std::string& place) {
        ++passed;
        out.append("id: ").append(place).append("\ndata: ").append(line).append("\n\n");
      });
  const std::uint64_t left_out = sample.take_left_out();
  if (left_out == 0) return;
  append_event(out, "left_out", "{\"rows\":" + std::to_string(left_out) + "}");
}

void append_event(std::string& out, const std::string& kind, const std::string& data) {
  out += "event: " + kind + "\ndata: " + data + "\n\n";
}

void append_data(std::string& out, const std::string& data) { out += "data: " + data + "\n\n"; }

void append_events(std::string& out, const ClientDelivery& delivery, TextCache& texts) {
  if (delivery.lost.rows > 0) append_event(out, "gap", gap_text(delivery.lost));
  if (delivery.rows > 0) out += texts.of(delivery.shared)->of(delivery.first, delivery.rows);
}

std::string gap_text(const Gap& gap) {
  return "{\"lost\":" + std::to_string(gap.rows) + ",\"first\":\"" + text_of(gap.first) +
         "\",\"last\":\"" + text_of(gap.last) + "\"}";
}

}  // namespace gorgo::server::http

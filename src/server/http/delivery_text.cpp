#include "server/http/delivery_text.hpp"

#include "codec/event_text.hpp"
#include "gorgo/event_batch.hpp"
#include "protocol/batch.hpp"
#include "server/http/place_text.hpp"

namespace gorgo::server::http {
namespace {

// So much text is kept of deliveries that are on their way.
constexpr std::size_t kMostText = std::size_t{16} << 20;

/// Calls `take(line, place)` for each row with its event line, without an end.
template <class Take>
void for_each_line(const SharedDelivery& delivery, Take take) {
  const auto writer = codec::make_line_writer();
  std::string line;
  BatchCursor event(protocol::view_of(*delivery.deliver().batch()));
  for (; !event.done(); event.advance()) {
    line.clear();
    writer->begin(line, event.table().type, event.timestamp());
    for (const EventColumn& column : event.table().columns) {
      const Datum value = event.value(column);
      if (value.exists()) writer->attribute(line, column.name, value);
    }
    writer->end(line);
    line.pop_back();
    take(line, text_of(delivery.place(event.position())));
  }
}

}  // namespace

std::string_view RowTexts::of(std::uint32_t first, std::uint32_t rows) const {
  const std::size_t begin = first == 0 ? 0 : ends[first - 1];
  return std::string_view(text).substr(begin, ends[first + rows - 1] - begin);
}

RowTexts event_texts(const SharedDelivery& delivery) {
  RowTexts rows;
  for_each_line(delivery, [&](const std::string& line, const std::string& place) {
    rows.text.append("id: ").append(place).append("\ndata: ").append(line).append("\n\n");
    rows.ends.push_back(rows.text.size());
  });
  return rows;
}

RowTexts message_texts(const SharedDelivery& delivery) {
  RowTexts rows;
  for_each_line(delivery, [&](std::string& line, const std::string& place) {
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

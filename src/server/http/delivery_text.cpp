#include "server/http/delivery_text.hpp"

#include <memory>

#include "codec/event_text.hpp"
#include "gorgo/event_batch.hpp"
#include "protocol/batch.hpp"

namespace gorgo::server::http {

void for_each_line(const wire::Deliver& deliver,
                   const std::function<void(const DeliveredLine&)>& take) {
  const auto writer = codec::make_line_writer();
  const auto* from = deliver.from();
  DeliveredLine delivered;
  for (BatchCursor event(protocol::view_of(*deliver.batch())); !event.done(); event.advance()) {
    const std::uint32_t row = event.position();
    delivered.line.clear();
    writer->begin(delivered.line, event.table().type, event.timestamp());
    for (const EventColumn& column : event.table().columns) {
      const Datum value = event.value(column);
      if (value.exists()) writer->attribute(delivered.line, column.name, value);
    }
    writer->end(delivered.line);
    delivered.line.pop_back();
    delivered.id = std::to_string(deliver.roots()->Get(row)) + "-" +
                   std::to_string(deliver.ordinals()->Get(row));
    const bool named = from != nullptr && from->size() > row;
    delivered.subscription = deliver.subscriptions()->Get(named ? from->Get(row) : 0);
    take(delivered);
  }
}

void append_event(std::string& out, const std::string& kind, const std::string& data) {
  out += "event: " + kind + "\ndata: " + data + "\n\n";
}

void append_events(std::string& out, const wire::Deliver& deliver) {
  if (deliver.lost() > 0) {
    append_event(out, "gap", "{\"lost\":" + std::to_string(deliver.lost()) + "}");
  }
  for_each_line(deliver, [&](const DeliveredLine& delivered) {
    out += "id: ";
    out += delivered.id;
    out += "\ndata: ";
    out += delivered.line;
    out += "\n\n";
  });
}

std::string with_id(const DeliveredLine& delivered) {
  std::string text = delivered.line;
  text.pop_back();  // its last brace
  text += ",\"id\":\"" + delivered.id + "\"";
  if (delivered.subscription != 0) {
    text += ",\"subscription\":" + std::to_string(delivered.subscription);
  }
  return text + "}";
}

std::string gap_text(std::uint64_t lost) {
  return "{\"gap\":{\"lost\":" + std::to_string(lost) + "}}";
}

}  // namespace gorgo::server::http

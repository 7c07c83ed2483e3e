#include "cluster/parcel.hpp"

#include <utility>

#include "cluster/wire.hpp"

namespace gorgo::cluster {
bool Parcel::full() const { return events_.bytes() >= kEnoughMessageBytes || events_.full(); }

/// Makes the columns before the events, whose bytes are counted by them.
Parcel::Way& Parcel::begin(const Origin& origin) {
  if (ways_.size() <= origin.number) ways_.resize(origin.number + std::size_t{1});
  Way& way = ways_[origin.number];
  if (way.table == origin.table) return way;
  way.table = origin.table;
  way.to = events_.table(origin.table->type, true);
  way.columns.clear();
  for (const EventColumn& column : origin.table->columns) {
    way.columns.push_back(events_.column(way.to, column.name, column.type));
  }
  return way;
}

void Parcel::add(const Origin& origin, std::uint32_t row, Place place) {
  Way& way = begin(origin);
  events_.begin(way.to, origin.table->timestamps[row]);
  for (const EventColumn* text : origin.texts) {
    events_.count_text(text->ends[row] - text->begin_of(row));
  }
  way.rows.push_back(row);
  places_.push_back(place);
}

void Parcel::put_values() {
  for (Way& way : ways_) {
    if (way.table == nullptr) continue;
    for (std::size_t i = 0; i < way.columns.size(); ++i) {
      events_.put(way.to, way.columns[i], way.table->columns[i], way.rows);
    }
    way.table = nullptr;
    way.rows.clear();
  }
}

StreamMessage Parcel::close(std::string subject, const std::string& from) {
  StreamMessage message{
      .subject = std::move(subject), .headers = {{kFromHeader, from}}, .payload = {}};
  if (clock_) message.headers.emplace_back(kClockHeader, std::to_string(*clock_));
  if (!empty()) {
    const InputPlaces places{places_.front(), places_.back()};
    message.headers.emplace_back(kPlaceHeader, places.text());
    message.payload = encode_events(events_.batch(), places_);
  }
  return message;
}

}  // namespace gorgo::cluster

#include "doors/door.hpp"

#include "codec/event_line.hpp"

namespace gorgo::doors {

std::string id_of(const Place& place) {
  return std::to_string(place.root) + "-" + std::to_string(place.ordinal);
}

void append_line(std::string& out, const Departing::Row& row) {
  out += "{\"id\":\"" + id_of(row.place) + "\",";
  const std::size_t begin = out.size();
  codec::append_event_line(out, row.event);
  out.erase(begin, 1);  // the brace
  out.pop_back();       // the newline
}

}  // namespace gorgo::doors

#include "doors/door.hpp"

#include <charconv>

#include "codec/event_line.hpp"

namespace gorgo::doors {

Departing rows_of(std::span<const DepartingColumns> parts) {
  Departing events;
  for (const DepartingColumns& part : parts) {
    const std::uint32_t end = part.first + part.count;
    for (BatchCursor next(part.batch); next.position() < end; next.advance()) {
      if (next.position() < part.first) continue;
      events.rows.push_back({part.place(next.position()), next.to_event()});
    }
  }
  return events;
}

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

std::optional<Place> place_in(std::string_view line) {
  constexpr std::string_view kBefore = "{\"id\":\"";
  if (!line.starts_with(kBefore)) return std::nullopt;
  line.remove_prefix(kBefore.size());
  Place place;
  const char* const end = line.data() + line.size();
  const auto root = std::from_chars(line.data(), end, place.root);
  if (root.ec != std::errc() || root.ptr == end || *root.ptr != '-') return std::nullopt;
  const auto ordinal = std::from_chars(root.ptr + 1, end, place.ordinal);
  if (ordinal.ec != std::errc()) return std::nullopt;
  return place;
}

}  // namespace gorgo::doors

#include "server/http/events_body.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/event_line.hpp"
#include "protocol/batch.hpp"

namespace gorgo::server::http {
namespace {

// An event takes at most so many bytes in a column: a number, and a bit that says that it is there.
constexpr std::size_t kCell = 9;
// Bytes of a column without its events.
constexpr std::size_t kColumn = 128;
// Events that are alike take less than this times the bytes of their lines, also by the estimate in
// `check_room`: `"a":1,` comes to a cell.
constexpr std::size_t kGrowth = 4;

// To refuse a line takes some microseconds. A compressed body can have millions of them in a few
// kilobytes, and all connections would wait for that.
constexpr std::size_t kMostMalformed = 10'000;

Problem too_wide(std::size_t max_bytes) {
  return {413,
          {"the events need more than " + std::to_string(kGrowth * max_bytes) +
               " bytes in columns: many of them lack attributes that others of their type have",
           "send fewer at once, or raise http.max_body_bytes"}};
}

std::size_t text_bytes(const Event& event) {
  std::size_t bytes = event.attributes.capacity() * sizeof(Attribute);
  for (const Attribute& attribute : event.attributes) {
    bytes += attribute.name.capacity();
    if (const auto* text = std::get_if<std::string>(&attribute.value)) bytes += text->capacity();
  }
  return bytes;
}

}  // namespace

Checked EventsBody::put(std::string_view bytes) {
  taken_ += bytes.size();
  if (taken_ > max_bytes_) return body_too_large(max_bytes_);
  while (!bytes.empty()) {
    const auto space = lines_.space();
    const std::size_t size = std::min(space.size, bytes.size());
    std::memcpy(space.data, bytes.data(), size);
    lines_.fill(size);
    bytes.remove_prefix(size);
    while (const auto line = lines_.next()) {
      if (auto problem = take(*line)) return problem;
    }
  }
  return {};
}

Checked EventsBody::finish() {
  const auto rest = lines_.rest();
  return rest ? take(*rest) : Checked();
}

std::size_t EventsBody::memory() const {
  return lines_.memory() + plain_.memory() + text_bytes(event_) + events_.bytes() +
         malformed_.capacity() * sizeof(std::uint32_t);
}

Checked EventsBody::take(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == line.npos) return {};
  Checked taken;
  if (const codec::PlainLine* const plain = plain_.read(line)) {
    taken = add(*plain);
  } else if (const auto read = codec::read_event_line(line, event_); !read) {
    refuse(read.error());
    if (malformed_.size() > std::max<std::size_t>(kMostMalformed, events_.events())) {
      return Problem{400,
                     {"most of the body is no event: " + first_malformed_.front().why.message,
                      "send an event in each line"}};
    }
  } else {
    taken = add(event_);
  }
  ++rows_;
  return taken;
}

Checked EventsBody::add(const codec::PlainLine& line) {
  if (line.is_tick()) return refuse_tick();
  if (auto problem = check_room(line.names.size())) return problem;
  line.add_to(events_);
  return {};
}

Checked EventsBody::add(const Event& event) {
  if (codec::is_tick(event)) return refuse_tick();
  if (auto problem = check_room(event.attributes.size())) return problem;
  events_.add(event);
  return {};
}

Checked EventsBody::refuse_tick() {
  refuse({"a tick is no event", "the native protocol has ticks (gorgo pub)"});
  return {};
}

// The bytes are bounded before the event is added: its columns may be new, and then they have a
// cell for each event before it.
Checked EventsBody::check_room(std::size_t attributes) const {
  const std::size_t columns = attributes * (events_.events() * kCell + kColumn);
  if (events_.bytes() + columns > kGrowth * (max_bytes_ + kColumn * 64)) {
    return too_wide(max_bytes_);
  }
  if (events_.full()) {
    return Problem{413, {"more than 65534 types in one body", "send fewer at once"}};
  }
  return {};
}

void EventsBody::refuse(Error why) {
  malformed_.push_back(rows_);
  if (first_malformed_.size() < kMostErrors) first_malformed_.push_back({rows_, std::move(why)});
}

std::uint32_t EventsBody::row_of(std::uint32_t event) const {
  // The row is the event's number and as many malformed rows as stand before it.
  std::size_t before = 0, after = malformed_.size();
  while (before < after) {
    const std::size_t middle = (before + after) / 2;
    if (malformed_[middle] - middle <= event) {
      before = middle + 1;
    } else {
      after = middle;
    }
  }
  return event + static_cast<std::uint32_t>(before);
}

protocol::Bytes EventsBody::publish(const wire::PublishT& header, std::uint64_t id) {
  flatbuffers::FlatBufferBuilder builder(events_.bytes() + 1024);
  const auto batch = protocol::pack(builder, events_.batch());
  const auto publish =
      wire::CreatePublish(builder, header.producer, header.sequence, header.ack, batch);
  builder.FinishSizePrefixed(wire::CreateMessage(builder, id, wire::Body::Publish, publish.Union()),
                             wire::MessageIdentifier());
  events_ = {};
  event_ = {};
  lines_ = {};
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace gorgo::server::http

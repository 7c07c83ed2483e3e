#include "server/dead_letters.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "codec/event_line.hpp"
#include "codec/text.hpp"

namespace gorgo::server {
namespace {

constexpr std::size_t kMostPayload = std::size_t{16} << 10;  // bytes

std::string as_text(std::string_view bytes) {
  std::string text(bytes.substr(0, kMostPayload));
  // Where a character was cut, its first bytes go, too.
  while (bytes.size() > kMostPayload && !text.empty() && !codec::is_valid_utf8(text) &&
         text.size() + 4 > kMostPayload) {
    text.pop_back();
  }
  if (codec::is_valid_utf8(text)) return text;
  std::ranges::replace_if(
      text, [](char byte) { return static_cast<unsigned char>(byte) >= 0x80; }, '?');
  return text;
}

}  // namespace

void add_dead_letter(BatchBuilder& batch, std::optional<Timestamp> stamp, std::string_view door,
                     std::string_view place, std::string_view reason, std::string_view payload) {
  const std::string shown = as_text(payload), where = as_text(place), why = as_text(reason);
  batch.add("gorgo.DeadLetter", stamp);
  batch.attribute("door", Datum::of(door));
  batch.attribute("place", Datum::of(std::string_view(where)));
  batch.attribute("reason", Datum::of(std::string_view(why)));
  batch.attribute("payload", Datum::of(std::string_view(shown)));
}

void add_dead_letters(BatchBuilder& batch, std::optional<Timestamp> stamp,
                      const wire::Publish& publish) {
  if (publish.dead() == nullptr) return;
  for (const wire::DeadLetter* dead : *publish.dead()) {
    add_dead_letter(batch, stamp, publish.door()->string_view(), dead->place()->string_view(),
                    dead->reason()->string_view(), dead->payload()->string_view());
  }
}

RefusedRow refused_row(const BatchCursor& event, std::string_view reason) {
  std::string line;
  codec::append_event_line(line, event.to_event());
  line.pop_back();
  // So many bytes are shown, and some more say that there were more.
  line.resize(std::min(line.size(), kMostPayload + 8));
  return {std::move(line), std::string(reason)};
}

void add_dead_letters(BatchBuilder& batch, std::optional<Timestamp> stamp, std::string_view door,
                      const std::vector<RefusedRow>& rows) {
  for (const RefusedRow& row : rows) add_dead_letter(batch, stamp, door, "", row.reason, row.line);
}

}  // namespace gorgo::server

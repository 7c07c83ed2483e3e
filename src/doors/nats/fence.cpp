#include "doors/nats/fence.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::doors::nats {

Result<void> Fence::look(jsCtx* context) {
  context_ = context;
  end_.reset();
  jsStreamInfo* found = nullptr;
  const auto status = js_GetStreamInfo(&found, context, stream_.c_str(), nullptr, nullptr);
  if (status != NATS_OK) return failed("the stream " + stream_, status);
  const Owned<jsStreamInfo> info(found);
  first_ = info->State.FirstSeq;
  last_ = info->State.LastSeq;
  if (info->State.Msgs == 0) return {};
  const auto place = place_at(last_);
  if (!place) return place.error();
  end_ = *place;
  return {};
}

Result<std::string> Fence::line_at(std::uint64_t sequence) const {
  natsMsg* found = nullptr;
  const auto status = js_GetMsg(&found, context_, stream_.c_str(), sequence, nullptr, nullptr);
  const std::string which = "the message " + std::to_string(sequence) + " of the stream " + stream_;
  if (status != NATS_OK) return failed(which, status);
  const Owned<natsMsg> message(found);
  return std::string(natsMsg_GetData(found),
                     static_cast<std::size_t>(natsMsg_GetDataLength(found)));
}

Result<Place> Fence::place_at(std::uint64_t sequence) const {
  const auto line = line_at(sequence);
  if (!line) return line.error();
  if (const auto place = place_in(*line)) return *place;
  return Error{"the message " + std::to_string(sequence) + " of the stream " + stream_ +
                   " comes from no door",
               "to a stream that is fenced one door alone writes"};
}

Result<std::string> Fence::line_of(const Place& place) const {
  std::uint64_t low = first_, high = last_;  // the event stands between them, if it is there
  while (low < high) {
    const std::uint64_t middle = low + (high - low + 1) / 2;
    const auto found = place_at(middle);
    if (!found) return found.error();
    if (*found <= place) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return line_at(low);
}

Result<std::size_t> Fence::known(const Departing& events) const {
  if (!end_) return std::size_t{0};
  const auto& rows = events.rows;
  const auto next = std::ranges::upper_bound(rows, *end_, {}, &Departing::Row::place);
  if (next == rows.begin()) return std::size_t{0};
  const Departing::Row& last = *std::prev(next);
  const auto line = line_of(last.place);
  if (!line) return line.error();
  std::string own;
  append_line(own, last);
  if (*line == own) return static_cast<std::size_t>(next - rows.begin());
  return Error{"the stream " + stream_ + " has another event in the place " + id_of(last.place) +
                   ", so it is the stream of another server, or of this one without its journal",
               "give the door a stream of its own"};
}

void Fence::guard(jsPubOptions& options, const Place& place) {
  // A sequence of 0 asks for nothing, so the first message of all asks for none of its subject.
  options.ExpectNoMessage = last_ == 0;
  options.ExpectLastSeq = last_++;
  end_ = place;
}

}  // namespace gorgo::doors::nats

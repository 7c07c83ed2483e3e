#include "doors/nats/nats_source.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

namespace gorgo::doors::nats {
namespace {

using std::chrono::milliseconds;

std::string_view text_of(const natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

std::string name_of(const std::string& door, const Settings& settings) {
  return settings.client_id.empty() ? "gorgo-" + door : settings.client_id;
}

/// How long to wait for a message now; nothing: long enough. Behind the first message only what is
/// there already is taken.
std::optional<milliseconds> wait_of(const Arrived& arrived, Connection& connection,
                                    std::chrono::steady_clock::time_point until) {
  if (!arrived.empty()) return milliseconds(0);
  const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
  if (left.count() <= 0 || connection.was_woken()) return std::nullopt;
  return std::min(left, kStep);
}

}  // namespace

SubjectSource::SubjectSource(const std::string& door, const Settings& settings, const Types& types)
    : connection_(settings, name_of(door, settings)),
      reader_(settings, types, {settings.topic}, kSubjects) {}

Result<void> SubjectSource::open() {
  const auto opened = connection_.open();
  if (!opened) return opened.error();
  if (!*opened && subscription_ != nullptr) return {};
  natsSubscription* made = nullptr;
  const std::string subject = reader_.filters().front();
  auto status = natsConnection_SubscribeSync(&made, connection_.get(), subject.c_str());
  subscription_.reset(made);
  // The server has the subscription once it has answered.
  if (status == NATS_OK) status = natsConnection_FlushTimeout(connection_.get(), kAnswer.count());
  if (status == NATS_OK) return {};
  const Error why = failed("the subject " + subject, status);
  close();
  return why;
}

void SubjectSource::close() {
  connection_.close();
  subscription_.reset();
}

Result<Arrived> SubjectSource::poll(milliseconds patience) {
  Arrived arrived;
  reader_.begin_batch();
  const bool was_open = subscription_ != nullptr;
  if (auto opened = open(); !opened) return opened.error();
  const auto until = std::chrono::steady_clock::now() + (was_open ? patience : milliseconds(0));
  while (!arrived.full()) {
    const auto wait = wait_of(arrived, connection_, until);
    if (!wait) break;
    natsMsg* came = nullptr;
    const auto status = natsSubscription_NextMsg(&came, subscription_.get(), wait->count());
    const Owned<natsMsg> message(came);
    if (status == NATS_OK) {
      reader_.take(natsMsg_GetSubject(came), text_of(came), arrived);
    } else if (status == NATS_SLOW_CONSUMER) {
      arrived.dead.push_back(
          {reader_.filters().front(),
           "messages came faster than the engine took them, and some were dropped", ""});
    } else if (!arrived.empty()) {
      break;  // a connection that is lost is found again by the next call
    } else if (status != NATS_TIMEOUT) {
      const Error why = failed("the subject " + reader_.filters().front(), status);
      close();
      return why;
    }
  }
  return {std::in_place, std::move(arrived)};
}

StreamSource::StreamSource(const std::string& door, const Settings& settings, const Types& types,
                           const Position& position)
    : settings_(settings),
      connection_(settings, name_of(door, settings)),
      reader_(settings, types, {settings.topic}, kSubjects),
      stream_(settings.stream, reader_.filters().front()),
      read_(read_in(position)) {}

std::optional<StreamSource::Read> StreamSource::read_in(const Position& position) {
  Read read;
  long long created = 0;
  unsigned long long sequence = 0;
  if (std::sscanf(position.c_str(), "%lld %llu", &created, &sequence) != 2) return std::nullopt;
  read.created = created;
  read.sequence = sequence;
  return read;
}

std::string StreamSource::describe(const Position& position) const {
  const auto read = read_in(position);
  return read ? "sequence " + std::to_string(read->sequence) : "";
}

void StreamSource::go_on_in(const StreamState& state, Arrived& arrived) {
  if (!read_) {
    read_ = {state.created, settings_.from == "end" ? state.last : state.first - 1};
  } else if (read_->created != state.created) {
    read_ = {state.created, 0};
    arrived.dead.push_back(
        {settings_.stream, "the stream was made anew, and is read from its beginning", ""});
  }
  if (state.first > read_->sequence + 1) {
    arrived.dead.push_back({settings_.stream,
                            "the stream has dropped the messages up to " +
                                std::to_string(state.first - 1) + ", and " +
                                std::to_string(read_->sequence) + " was the last that was read",
                            ""});
    read_->sequence = state.first - 1;
  }
}

Result<void> StreamSource::open(Arrived& arrived) {
  const auto state = stream_.look(connection_);
  if (!state) return state.error();
  go_on_in(*state, arrived);
  return stream_.begin(read_->sequence + 1);
}

Result<void> StreamSource::take(Arrived& arrived, milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!arrived.full()) {
    const auto wait = wait_of(arrived, connection_, until);
    if (!wait) return {};
    const auto message = stream_.next(*wait);
    if (!message) return message.error();
    if (*message) {
      natsMsg* const content = (*message)->content.get();
      reader_.take(natsMsg_GetSubject(content), text_of(content), arrived);
      read_->sequence = (*message)->sequence;
    } else if (!arrived.empty()) {
      return {};
    }
  }
  return {};
}

Result<Arrived> StreamSource::poll(milliseconds patience) {
  Arrived arrived;
  reader_.begin_batch();
  const auto opened = connection_.open();
  if (!opened) return opened.error();
  Result<void> went;
  const bool begins = *opened || !stream_.has_begun();
  if (begins) went = open(arrived);
  if (went) went = take(arrived, begins ? milliseconds(0) : patience);
  if (!went) {
    connection_.close();
    stream_.end();
    // What came before it was lost came, and reading begins behind that.
    if (arrived.empty()) return went.error();
  }
  // The position where reading begins is kept, too: `end` means the end of that moment.
  if (begins || !arrived.empty()) {
    arrived.position = std::to_string(read_->created) + " " + std::to_string(read_->sequence);
  }
  return {std::in_place, std::move(arrived)};
}

}  // namespace gorgo::doors::nats

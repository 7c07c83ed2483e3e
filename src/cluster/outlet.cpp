#include "cluster/outlet.hpp"

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "cluster/names.hpp"
#include "codec/text.hpp"

namespace gorgo::cluster {
namespace {

using doors::Arrived;
using doors::Position;
using doors::nats::StreamReader;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenPlans{1000};
/// Between two looks at what has come from so many streams that none can be waited for. What comes
/// meanwhile goes on together, because each publication of an outlet has the positions of all
/// streams.
constexpr milliseconds kPause{5};

std::string_view payload_of(natsMsg* message) {
  return {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))};
}

}  // namespace

Outlet::Outlet(const Settings& settings, const Position& position)
    : cluster_(settings.name),
      connection_(broker_settings(settings),
                  "gorgo-" + settings.name + "-" + settings.node + "-out"),
      store_(settings.name),
      is_new_(position.empty()),
      read_(parse(position)) {}

/// Reads what `position` writes, as far as it can.
Outlet::ReadAll Outlet::parse(const Position& position) {
  ReadAll all;
  const char* const end = position.data() + position.size();
  for (const char* next = position.data(); next < end;) {
    Read read;
    const auto created = std::from_chars(next, end, read.created);
    if (created.ptr == end) break;
    const auto sequence = std::from_chars(created.ptr + 1, end, read.sequence);
    const char* const line_end = std::find(sequence.ptr, end, '\n');
    const bool are_numbers = created.ec == std::errc() && sequence.ec == std::errc();
    if (!are_numbers || sequence.ptr == line_end || line_end == end) break;
    all[std::string(sequence.ptr + 1, line_end)] = read;
    next = line_end + 1;
  }
  return all;
}

/// A line for each stream: when it was made, the last sequence that was read, its name. It is
/// written whenever anything has come, with a line for each partition of the cluster.
Position Outlet::position() const {
  Position lines;
  for (const auto& [stream, read] : read_) {
    codec::append_integer(lines, read.created);
    lines += ' ';
    codec::append_integer(lines, static_cast<std::int64_t>(read.sequence));
    lines += ' ';
    lines += stream;
    lines += '\n';
  }
  return lines;
}

std::string Outlet::describe(const Position& position) const {
  std::uint64_t messages = 0;
  const ReadAll all = parse(position);
  for (const auto& [stream, read] : all) messages += read.sequence;
  return std::to_string(messages) + " messages of " + std::to_string(all.size()) + " partitions";
}

void Outlet::close() {
  connection_.close();
  readers_.clear();
  store_.close();
}

Result<void> Outlet::open() {
  const auto opened = connection_.open();
  if (!opened) return opened.error();
  if (!*opened) return {};
  readers_.clear();
  store_.close();
  next_look_ = {};
  return {};
}

/// Finds streams that it does not read yet.
Result<void> Outlet::look(Arrived& arrived) {
  if (Clock::now() < next_look_) return {};
  if (!store_.is_open()) {
    const auto there = store_.open(connection_.get());
    if (!there) return there.error();
  }
  if (store_.is_open()) {
    const auto found = store_.read();
    if (!found) return found.error();
    for (const Family& family : found->deployment.plan.families) {
      for (std::uint32_t number = 0; number < found->deployment.partitions_of(family); ++number) {
        const auto begun = begin(output_stream(cluster_, family.name, number),
                                 output_subject(cluster_, family.name, number), arrived);
        if (!begun) return begun;
      }
    }
  }
  if (is_new_) arrived.position = position();
  is_new_ = false;
  next_look_ = Clock::now() + kBetweenPlans;
  return {};
}

Result<void> Outlet::begin(const std::string& stream, const std::string& subject,
                           Arrived& arrived) {
  if (readers_.contains(stream)) return {};
  auto reader = std::make_unique<StreamReader>(stream, subject);
  const auto state = reader->look(connection_);
  if (!state) return state.error();
  Read& read = read_[stream];
  if (read.created != state->created) {
    const bool was_known = read.created != 0;
    // What partitions gave before this node was there is not for it.
    read = {state->created, is_new_ ? state->last : 0};
    if (was_known) {
      arrived.dead.push_back(
          {stream, "the stream was made anew, and is read from its beginning", ""});
    }
  }
  if (read.sequence + 1 < state->first) {
    arrived.dead.push_back({stream,
                            "messages " + std::to_string(read.sequence + 1) + " to " +
                                std::to_string(state->first - 1) +
                                " have gone before this node has read them",
                            ""});
    read.sequence = state->first - 1;
  }
  if (auto begun = reader->begin(read.sequence + 1); !begun) return begun;
  readers_[stream] = std::move(reader);
  return {};
}

void Outlet::take(const StreamReader::Message& message, const std::string& stream,
                  Arrived& arrived) {
  const std::string_view payload = payload_of(message.content.get());
  read_[stream].sequence = message.sequence;
  const auto events = ReceivedEvents::decode(payload);
  if (!events) {
    arrived.dead.push_back({stream + " " + std::to_string(message.sequence), events.error().message,
                            std::string(payload)});
    return;
  }
  arrived.events.add(events->batch());
}

/// Takes what has come. False: nothing has.
Result<bool> Outlet::take(Arrived& arrived) {
  bool has_any = false;
  for (const auto& [stream, reader] : readers_) {
    while (!arrived.full()) {
      // Without patience it looks what is there, and now and then whether more can come at all.
      const auto message = reader->next(milliseconds(0));
      if (!message) return message.error();
      if (!*message) break;
      take(**message, stream, arrived);
      has_any = true;
    }
    if (arrived.full()) break;
  }
  return has_any;
}

Result<Arrived> Outlet::poll(milliseconds patience) {
  Arrived arrived;
  const auto until = Clock::now() + patience;
  while (arrived.empty()) {
    std::this_thread::sleep_until(std::min(next_take_, until));
    next_take_ = Clock::now() + kPause;
    Result<void> done = open();
    if (done) done = look(arrived);
    Result<bool> taken = false;
    if (done) taken = take(arrived);
    if (!taken) done = taken.error();
    if (!done) {
      close();
      if (arrived.has_news()) break;  // what has come is not lost
      return done.error();
    }
    const bool is_over = connection_.was_woken() || Clock::now() >= until;
    if (*taken || !arrived.position.empty() || is_over) break;
  }
  if (!arrived.empty()) arrived.position = position();
  return {std::in_place, std::move(arrived)};
}

}  // namespace gorgo::cluster

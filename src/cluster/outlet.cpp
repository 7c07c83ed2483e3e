#include "cluster/outlet.hpp"

#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "cluster/names.hpp"

namespace gorgo::cluster {
namespace {

using doors::Arrived;
using doors::Position;
using doors::nats::StreamReader;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenPlans{1000};
/// Between two looks at what has come from so many streams that none can be waited for.
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

Outlet::ReadAll Outlet::parse(const Position& position) {
  ReadAll all;
  const auto json = nlohmann::json::parse(position, nullptr, false);
  if (!json.is_object()) return all;
  for (const auto& [stream, read] : json.items()) {
    if (!read.is_array() || read.size() != 2) continue;
    all[stream] = {read[0].get<std::int64_t>(), read[1].get<std::uint64_t>()};
  }
  return all;
}

Position Outlet::position() const {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [stream, read] : read_) json[stream] = {read.created, read.sequence};
  return json.dump();
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
  for (BatchCursor cursor(events->batch()); !cursor.done(); cursor.advance()) {
    arrived.events.add(cursor.to_event());
  }
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
    if (*taken || !arrived.position.empty() || connection_.was_woken() || Clock::now() >= until)
      break;
    std::this_thread::sleep_for(kPause);
  }
  if (!arrived.empty()) arrived.position = position();
  return {std::in_place, std::move(arrived)};
}

}  // namespace gorgo::cluster

#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "protocol/batch.hpp"
#include "server/doors/runner.hpp"

namespace gorgo::server {
namespace {

using doors::Arrived;
using doors::Position;
using std::chrono::milliseconds;

/// Between two attempts where the engine has no room.
constexpr milliseconds kShortPause{100};

protocol::Bytes publication_of(const std::string& door, Arrived& arrived, std::uint64_t id,
                               wire::AckMode ack) {
  flatbuffers::FlatBufferBuilder builder(arrived.events.bytes() + 1024);
  const auto batch = protocol::pack(builder, arrived.events.batch());
  std::vector<flatbuffers::Offset<wire::DeadLetter>> dead;
  for (const doors::DeadLetter& letter : arrived.dead) {
    dead.push_back(wire::CreateDeadLetter(builder, builder.CreateString(letter.place),
                                          builder.CreateString(letter.reason),
                                          builder.CreateString(letter.payload)));
  }
  const auto name = builder.CreateString(door);
  const auto position = builder.CreateVector(
      reinterpret_cast<const std::uint8_t*>(arrived.position.data()), arrived.position.size());
  const auto letters = builder.CreateVector(dead);
  const auto publish = wire::CreatePublish(builder, 0, 0, ack, batch, name, position, letters);
  builder.FinishSizePrefixed(wire::CreateMessage(builder, id, wire::Body::Publish, publish.Union()),
                             wire::MessageIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// One publication is on its way at a time, so that positions are noted in their order; meanwhile
/// the source reads the next.
class SourceRunner : public Runner {
 public:
  SourceRunner(const DoorParts& parts, std::uint64_t id, std::string name, doors::Settings settings,
               Position position, SourceMaker make)
      : Runner(parts, id, std::move(name), std::move(settings)),
        make_(std::move(make)),
        position_(std::move(position)) {}
  ~SourceRunner() override {
    stop();
    join();
  }

 private:
  const SourceMaker make_;
  Position position_;
  std::unique_ptr<doors::Source> source_;
  std::optional<Arrived> sent_, next_;
  std::uint64_t number_ = 0;      // of the publication that was sent
  bool is_refused_ = false;       // it was, as a whole
  std::optional<Error> problem_;  // of the source, while it goes on

  void run() override;
  bool open();
  void poll();
  void say_that_it_works();
  bool send();
  void take_news();
  void take_reply(const wire::Message& message);
  void confirm(const wire::Ack& ack);
};

void SourceRunner::run() {
  if (!open()) return;
  while (!link_.is_stopped()) {
    take_news();
    if (!sent_ && next_) {
      sent_ = std::exchange(next_, std::nullopt);
      if (!send()) return;
    }
    report_.set_waiting(next_.has_value());
    if (next_) {
      link_.wait(kPatience);
    } else {
      poll();
    }
  }
}

bool SourceRunner::open() {
  while (!link_.is_stopped()) {
    auto source = make_(position_);
    if (source) {
      source_ = std::move(*source);
      report_.set_position(source_->describe(position_));
      set_wake([this](bool) { source_->wake(); });
      return true;
    }
    fail(source.error());
  }
  return false;
}

void SourceRunner::poll() {
  auto arrived = source_->poll(kPatience);
  if (!arrived) return fail(arrived.error());
  problem_ = std::exchange(arrived->problem, std::nullopt);
  if (!is_refused_) say_that_it_works();
  if (arrived->has_news()) next_ = std::move(*arrived);
}

void SourceRunner::say_that_it_works() {
  if (problem_) return succeed_but_for(*problem_);
  succeed();
}

bool SourceRunner::send() {
  const auto ack = parts_.is_durable ? wire::AckMode::Durable : wire::AckMode::Accepted;
  return link_.push(publication_of(name_, *sent_, ++number_, ack));
}

void SourceRunner::take_news() {
  for (const OutFrame& frame : link_.take()) {
    const auto* bytes = std::get_if<protocol::Bytes>(&frame);
    const auto message =
        bytes == nullptr ? Result<const wire::Message*>(Error{}) : protocol::open_frame(*bytes);
    if (message && sent_ && (*message)->id() == number_) take_reply(**message);
  }
}

void SourceRunner::take_reply(const wire::Message& message) {
  if (const auto* ack = message.body_as_Ack()) return confirm(*ack);
  const auto* error = message.body_as_Error();
  const std::string why = error == nullptr ? "an answer that is none" : error->message()->str();
  is_refused_ = true;
  if (report_.set_problem("the engine takes nothing: " + why)) {
    parts_.log.warning("the engine takes nothing of a door, and is asked again",
                       {{"door", name_}, {"error", why}});
  }
  pause(kShortPause);
  send();
}

void SourceRunner::confirm(const wire::Ack& ack) {
  // Whoever sees the events counted sees the rest of what came with them, too.
  report_.set_position(source_->describe(sent_->position));
  report_.dead += sent_->dead.size();
  report_.refused += ack.refused();
  report_.events += ack.accepted();
  source_->committed(sent_->position);
  sent_.reset();
  if (std::exchange(is_refused_, false)) say_that_it_works();
}

}  // namespace

std::unique_ptr<Runner> make_source_runner(const DoorParts& parts, std::uint64_t id,
                                           std::string name, doors::Settings settings,
                                           doors::Position position, SourceMaker make) {
  return std::make_unique<SourceRunner>(parts, id, std::move(name), std::move(settings),
                                        std::move(position), std::move(make));
}

}  // namespace gorgo::server

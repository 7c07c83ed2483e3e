#include "server/doors/engine_link.hpp"

#include <utility>

namespace gorgo::server {
namespace {

/// What waits for a door is shared with its durable subscription until that drops it, so more of it
/// ahead takes little memory.
Limits limits_of(Limits limits) {
  limits.ahead_bytes = std::size_t{8} << 20;
  return limits;
}

}  // namespace

void EngineLink::Bell::ring() {
  const std::lock_guard lock(mutex);
  is_rung = true;
  rung.notify_all();
  if (on_news) on_news(is_stopped);
}

EngineLink::EngineLink(const Parts& parts, std::uint64_t id, const std::string& door,
                       std::function<void(bool)> on_news)
    : queue_(parts.queue), bell_(std::make_shared<Bell>()) {
  bell_->on_news = std::move(on_news);
  outbox_ = std::make_shared<Outbox>(id, "door " + door, limits_of(parts.limits), parts.totals,
                                     [bell = bell_] { bell->ring(); });
}

EngineLink::~EngineLink() {
  {
    const std::lock_guard lock(bell_->mutex);
    bell_->on_news = nullptr;
  }
  queue_.drop(outbox_->id(), CommandQueue::Drop::replies_only);
  Command last{Command::Kind::disconnect, outbox_};
  last.done = std::move(at_end_);
  queue_.push_control(std::move(last));
  outbox_->abandon();
}

bool EngineLink::push(protocol::Bytes frame) {
  const auto* message = flatbuffers::GetSizePrefixedRoot<wire::Message>(frame.data());
  Command request{Command::Kind::request, outbox_, {}, work_of(*message, frame.size())};
  request.frame = std::move(frame);
  request.is_of_door = true;
  constexpr std::chrono::milliseconds kBetweenPushes{1000};
  auto pushed = queue_.push(request);
  while (pushed == CommandQueue::Push::full && !is_stopped()) {
    wait(kBetweenPushes);
    pushed = queue_.push(request);
  }
  return pushed == CommandQueue::Push::queued;
}

std::vector<OutFrame> EngineLink::take() {
  outbox_->written();
  auto frames = outbox_->take();
  if (outbox_->take_wants_more()) queue_.push_control({Command::Kind::feed, outbox_});
  return frames;
}

void EngineLink::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(bell_->mutex);
  bell_->rung.wait_for(lock, patience, [this] { return bell_->is_rung || bell_->is_stopped; });
  bell_->is_rung = false;
}

bool EngineLink::is_stopped() {
  const std::lock_guard lock(bell_->mutex);
  return bell_->is_stopped;
}

bool EngineLink::is_finishing() {
  const std::lock_guard lock(bell_->mutex);
  return bell_->is_finishing;
}

void EngineLink::finish() {
  {
    const std::lock_guard lock(bell_->mutex);
    bell_->is_finishing = true;
  }
  bell_->ring();
}

void EngineLink::stop() {
  const std::lock_guard lock(bell_->mutex);
  bell_->is_stopped = true;
  bell_->rung.notify_all();
  if (bell_->on_news) bell_->on_news(true);
}

}  // namespace gorgo::server

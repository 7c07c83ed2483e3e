#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "protocol/batch.hpp"
#include "protocol/info.hpp"
#include "server/doors/durable_name.hpp"
#include "server/doors/runner.hpp"
#include "server/refusal.hpp"

namespace gorgo::server {
namespace {

using doors::Departing;

enum SinkRequest : std::uint64_t { kSinkSubscribe = 1, kSinkEnd = 2, kSinkAcknowledge = 3 };

/// With a journal the subscription is durable, and what the other side has is acknowledged. What
/// has come from the engine leaves together, because each `send` waits for the other side.
class SinkRunner : public Runner {
 public:
  SinkRunner(const DoorParts& parts, std::uint64_t id, std::string name, doors::Settings settings,
             SinkMaker make)
      : Runner(parts, id, std::move(name), std::move(settings)),
        make_(std::move(make)),
        durable_(durable_of(name_)) {}
  ~SinkRunner() override {
    stop();
    join();
  }

 private:
  const SinkMaker make_;
  const std::string durable_;
  std::unique_ptr<doors::Sink> sink_;
  Departing departing_;
  bool was_ended_ = false;  // the subscription that had another text
  bool is_cut_off_ = true;  // as far as was seen while there was nothing to send

  void begin() override { subscribe(); }
  void run() override;
  bool open();
  void subscribe();
  void take(const OutFrame& frame);
  void take_reply(const wire::Message& message);
  void gather(const ClientDelivery& delivery);
  void send();
  void idle();
  void acknowledge(Place last);
};

void SinkRunner::run() {
  if (!open()) return;
  while (!link_.is_stopped()) {
    const auto frames = link_.take();
    for (const OutFrame& frame : frames) {
      if (link_.is_stopped()) return;
      take(frame);
    }
    send();
    if (frames.empty() && link_.is_finishing()) return;
    if (frames.empty()) link_.wait(kPatience);
    if (frames.empty()) idle();
  }
}

bool SinkRunner::open() {
  while (!link_.is_stopped()) {
    auto sink = make_();
    if (sink) {
      sink_ = std::move(*sink);
      set_wake([this](bool is_stopped) {
        if (is_stopped) sink_->wake();
      });
      return true;
    }
    fail(sink.error());
  }
  return false;
}

void SinkRunner::subscribe() {
  wire::SubscribeT request;
  request.subscription = 1;
  request.text = settings_.subscribe;
  if (parts_.has_journal) {
    request.durable = durable_;
  } else {
    request.slow = wire::SlowPolicy::Drop;
  }
  link_.push(protocol::encode(kSinkSubscribe, request));
}

void SinkRunner::take(const OutFrame& frame) {
  if (const auto* delivery = std::get_if<ClientDelivery>(&frame)) return gather(*delivery);
  const auto message = protocol::open_frame(std::get<protocol::Bytes>(frame));
  if (message) take_reply(**message);
}

void SinkRunner::take_reply(const wire::Message& message) {
  const std::string problem = refusal_in(message);
  if (message.id() == kSinkEnd) {
    subscribe();
  } else if (message.id() == kSinkSubscribe && problem.empty()) {
    idle();
  } else if (message.id() == kSinkSubscribe && parts_.has_journal && !was_ended_) {
    // It may be there from an earlier configuration, for other events.
    was_ended_ = true;
    wire::EndDurableT end;
    end.durable = durable_;
    link_.push(protocol::encode(kSinkEnd, end));
  } else if (message.id() == kSinkSubscribe) {
    fail({"subscribe: " + problem, ""});
    subscribe();
  }
}

void SinkRunner::gather(const ClientDelivery& delivery) {
  report_.lost += delivery.lost.rows;
  if (delivery.shared == nullptr) return;
  BatchCursor cursor(protocol::view_of(*delivery.shared->deliver().batch()));
  for (; !cursor.done(); cursor.advance()) {
    const std::uint32_t row = cursor.position();
    if (row < delivery.first || row >= delivery.first + delivery.rows) continue;
    departing_.rows.push_back({delivery.shared->place(row), cursor.to_event()});
  }
  if (departing_.rows.size() >= sink_->most_rows()) send();
}

void SinkRunner::send() {
  const auto departing = std::exchange(departing_, {});
  if (departing.rows.empty()) return;
  auto sent = sink_->send(departing);
  while (!sent) {
    if (link_.is_finishing()) report_.lost += departing.rows.size();
    if (link_.is_stopped() || link_.is_finishing()) return;
    fail(sent.error());
    sent = sink_->send(departing);
  }
  succeed();
  report_.set_position(doors::id_of(departing.rows.back().place));
  report_.events += departing.rows.size();
  if (parts_.has_journal) acknowledge(departing.rows.back().place);
}

void SinkRunner::idle() {
  if (link_.is_stopped() || link_.is_finishing()) return;
  const auto reached = sink_->idle();
  if (!reached) fail(reached.error());
  if (reached && is_cut_off_) succeed();
  is_cut_off_ = !reached;
}

void SinkRunner::acknowledge(Place last) {
  wire::AcknowledgeT acknowledge;
  acknowledge.durable = durable_;
  acknowledge.root = last.root;
  acknowledge.ordinal = last.ordinal;
  link_.push(protocol::encode(kSinkAcknowledge, acknowledge));
}

}  // namespace

std::unique_ptr<Runner> make_sink_runner(const DoorParts& parts, std::uint64_t id, std::string name,
                                         doors::Settings settings, SinkMaker make) {
  return std::make_unique<SinkRunner>(parts, id, std::move(name), std::move(settings),
                                      std::move(make));
}

}  // namespace gorgo::server

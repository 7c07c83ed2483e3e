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

using doors::DepartingColumns;

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
  /// Bytes that leave together, about: they are held and copied beside what waits.
  static constexpr std::size_t kMostGathered = std::size_t{8} << 20;

  const SinkMaker make_;
  const std::string durable_;
  std::unique_ptr<doors::ColumnSink> sink_;
  std::vector<ClientDelivery> gathered_;  // each has rows
  std::size_t gathered_rows_ = 0;
  std::size_t gathered_bytes_ = 0;
  bool was_ended_ = false;  // the subscription that had another text
  bool is_cut_off_ = true;  // as far as was seen while there was nothing to send

  void begin() override { subscribe(); }
  void run() override;
  bool open();
  void subscribe();
  void take(const OutFrame& frame);
  void take_reply(const wire::Message& message);
  void gather(const ClientDelivery& delivery);
  static DepartingColumns columns_of(const ClientDelivery& delivery);
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
    if (!frames.empty()) continue;
    if (!gathered_.empty()) {
      send();
      continue;
    }
    if (link_.is_finishing()) return;
    link_.wait(kPatience);
    idle();
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
  if (delivery.rows == 0) return;
  gathered_.push_back(delivery);
  gathered_rows_ += delivery.rows;
  gathered_bytes_ += delivery.bytes();
  if (gathered_rows_ >= sink_->most_rows() || gathered_bytes_ >= kMostGathered) send();
}

DepartingColumns SinkRunner::columns_of(const ClientDelivery& delivery) {
  const wire::Deliver& deliver = delivery.shared->deliver();
  return {.batch = protocol::view_of(*deliver.batch()),
          .roots = protocol::span_of(deliver.roots()),
          .ordinals = protocol::span_of(deliver.ordinals()),
          .first = delivery.first,
          .count = delivery.rows};
}

void SinkRunner::send() {
  const auto gathered = std::exchange(gathered_, {});
  const std::size_t rows = std::exchange(gathered_rows_, 0);
  gathered_bytes_ = 0;
  if (rows == 0) return;
  std::vector<DepartingColumns> departing;
  for (const ClientDelivery& delivery : gathered) departing.push_back(columns_of(delivery));
  auto sent = sink_->send_columns(departing);
  while (!sent) {
    if (link_.is_finishing()) report_.lost += rows;
    if (link_.is_stopped() || link_.is_finishing()) return;
    fail(sent.error());
    sent = sink_->send_columns(departing);
  }
  succeed();
  const Place last = departing.back().last();
  report_.set_position(doors::id_of(last));
  report_.events += rows;
  if (parts_.has_journal) acknowledge(last);
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

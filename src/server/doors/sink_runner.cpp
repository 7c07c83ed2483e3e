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
/// has come from the engine leaves together, because a sink waits for the other side each time.
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

  static DepartingColumns columns_of(const ClientDelivery& delivery);

  /// Events that leave together.
  struct Load {
    std::vector<ClientDelivery> deliveries;  // each has rows
    std::size_t rows = 0, bytes = 0;

    bool empty() const { return rows == 0; }
    void add(const ClientDelivery& delivery);
    std::vector<DepartingColumns> columns() const;
    Place last() const { return columns_of(deliveries.back()).last(); }
  };

  const SinkMaker make_;
  const std::string durable_;
  std::unique_ptr<doors::ColumnSink> sink_;
  Load gathered_, under_way_;
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
  void settle();
  bool put_under_way();
  bool goes_on_after(const Error& why);
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
    if (!under_way_.empty()) {
      settle();  // what comes meanwhile leaves together
      continue;
    }
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
  gathered_.add(delivery);
  if (gathered_.rows >= sink_->most_rows() || gathered_.bytes >= kMostGathered) send();
}

void SinkRunner::Load::add(const ClientDelivery& delivery) {
  deliveries.push_back(delivery);
  rows += delivery.rows;
  bytes += delivery.bytes();
}

std::vector<DepartingColumns> SinkRunner::Load::columns() const {
  std::vector<DepartingColumns> parts;
  for (const ClientDelivery& delivery : deliveries) parts.push_back(columns_of(delivery));
  return parts;
}

DepartingColumns SinkRunner::columns_of(const ClientDelivery& delivery) {
  const wire::Deliver& deliver = delivery.shared->deliver();
  return {.batch = protocol::view_of(*deliver.batch()),
          .roots = protocol::span_of(deliver.roots()),
          .ordinals = protocol::span_of(deliver.ordinals()),
          .first = delivery.first,
          .count = delivery.rows};
}

/// Sends what is gathered behind what is under way.
void SinkRunner::send() {
  Load next = std::exchange(gathered_, {});
  if (next.empty()) return;
  if (!under_way_.empty()) sink_->prepare(next.columns());
  settle();
  under_way_ = std::move(next);
  if (put_under_way() && !sink_->is_under_way()) settle();
}

bool SinkRunner::put_under_way() {
  const auto departing = under_way_.columns();
  for (;;) {
    const auto sent = sink_->send_columns(departing);
    if (sent) return true;
    if (!goes_on_after(sent.error())) return false;
  }
}

/// Whether there is another attempt, for which it waits.
bool SinkRunner::goes_on_after(const Error& why) {
  if (link_.is_finishing()) report_.lost += under_way_.rows;
  if (link_.is_stopped() || link_.is_finishing()) {
    under_way_ = {};
    return false;
  }
  fail(why);
  return true;
}

void SinkRunner::settle() {
  if (under_way_.empty()) return;
  for (;;) {
    const auto settled = sink_->settle();
    if (settled) break;
    if (!goes_on_after(settled.error()) || !put_under_way()) return;
  }
  succeed();
  const Load safe = std::exchange(under_way_, {});
  report_.set_position(doors::id_of(safe.last()));
  report_.events += safe.rows;
  if (parts_.has_journal) acknowledge(safe.last());
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

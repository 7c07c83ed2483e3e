#include "server/actions/action_runner.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/thread_name.hpp"
#include "protocol/batch.hpp"
#include "protocol/info.hpp"
#include "server/doors/durable_name.hpp"
#include "server/refusal.hpp"

namespace gorgo::server {
namespace {

using actions::Order;
using actions::Outcome;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Numbers of requests.
enum Request : std::uint64_t { kSubscribe = 1, kAcknowledge = 2 };

/// So many events are taken up at a time; more wait where they are.
constexpr std::size_t kMostOutstanding = 10'000;
constexpr milliseconds kPatience{1000};

Timestamp system_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

ActionRunner::ActionRunner(const ActionParts& parts, std::uint64_t id, std::string name,
                           actions::Settings settings, const std::string& saved)
    : parts_(parts),
      name_(std::move(name)),
      settings_(std::move(settings)),
      durable_(durable_of_action(settings_.text(name_))),
      report_({.name = name_,
               .kind = settings_.kind,
               .address = settings_.address(),
               .state = {},
               .problem = {},
               .dry_run = settings_.dry_run,
               .silences = {}}),
      state_(saved),
      rate_(settings_.per_minute),
      groups_(settings_.group_by, milliseconds(settings_.group_ms)),
      link_(parts.link, id, durable_,
            [this](bool is_stopped) {
              if (!is_stopped) return;
              const std::lock_guard lock(mutex_);
              if (target_ != nullptr) target_->wake();
            }),
      letters_(parts.link, id + 1, durable_, [this](bool) { link_.wake(); }) {
  report_.retriable = state_.dead.retriable();
}

ActionRunner::~ActionRunner() {
  stop();
  join();
}

void ActionRunner::start() {
  subscribe();
  thread_ = std::thread([this] {
    name_thread("action", name_);
    try {
      run();
    } catch (const std::exception& failure) {
      report_.set_problem(failure.what());
      parts_.log.error("a target of actions has ended",
                       {{"target", name_}, {"error", failure.what()}});
    }
  });
}

void ActionRunner::stop() {
  link_.stop();
  letters_.stop();
}

void ActionRunner::join() {
  if (thread_.joinable()) thread_.join();
}

ActionTarget ActionRunner::info() const {
  ActionTarget info = report_.info();
  const std::lock_guard lock(mutex_);
  info.silences = state_.silences.all(system_now());
  return info;
}

Result<std::uint64_t> ActionRunner::silence(ActionSilence silence) {
  Result<std::uint64_t> id = std::uint64_t{0};
  {
    const std::lock_guard lock(mutex_);
    id = state_.silences.add(std::move(silence), system_now());
    is_state_new_ |= static_cast<bool>(id);
  }
  link_.wake();
  return id;
}

bool ActionRunner::end_silence(std::uint64_t id) {
  bool is_ended = false;
  {
    const std::lock_guard lock(mutex_);
    is_ended = state_.silences.end(id);
    is_state_new_ |= is_ended;
  }
  link_.wake();
  return is_ended;
}

std::string ActionRunner::saved() const {
  const std::lock_guard lock(mutex_);
  return state_.saved();
}

void ActionRunner::test() {
  const Timestamp now = system_now();
  Event event{.type = "gorgo.Test", .timestamp = now, .attributes = {}};
  event.attributes.push_back({"target", name_});
  Order order{{{{}, std::move(event)}}, "test-" + std::to_string(now) + "/" + name_};
  {
    const std::lock_guard lock(mutex_);
    ordered_.push_back(std::move(order));
  }
  link_.wake();
}

std::size_t ActionRunner::retry() {
  std::size_t events = 0;
  {
    const std::lock_guard lock(mutex_);
    for (Order& order : state_.dead.retry()) {
      events += order.rows.size();
      ordered_.push_back(std::move(order));
    }
    report_.retriable = 0;
  }
  link_.wake();
  return events;
}

void ActionRunner::subscribe() {
  wire::SubscribeT request;
  request.subscription = 1;
  request.text = "* execute " + settings_.text(name_);
  if (parts_.has_journal) {
    request.durable = durable_;
  } else {
    request.slow = wire::SlowPolicy::Drop;
  }
  link_.push(protocol::encode(kSubscribe, request));
}

void ActionRunner::run() {
  if (!open()) return;
  work();
  save_state(true);
  // Else the next one would do it again.
  next_acknowledgement_ = {};
  acknowledge(steady_clock::now());
}

void ActionRunner::work() {
  while (!link_.is_stopped()) {
    // What has come when this is asked is all that will come.
    const bool is_last = link_.is_finishing();
    save_state(false);
    take_news(is_last);
    take_ordered();
    give_up_late(steady_clock::now());
    report_.waiting = outstanding_.left();  // an attempt may take long
    const std::size_t tried = attempt_due();
    publish_dead_letters();
    acknowledge(steady_clock::now());
    report_.waiting = outstanding_.left();
    if (tried > 0) continue;
    if (is_last) return;
    const Time now = steady_clock::now();
    link_.wait(std::clamp(std::chrono::ceil<milliseconds>(next_due(now) - now), milliseconds(0),
                          kPatience));
  }
}

bool ActionRunner::open() {
  while (!link_.is_stopped()) {
    auto target = actions::make_target(name_, settings_);
    if (target) {
      const std::lock_guard lock(mutex_);
      target_ = std::move(*target);
      return true;
    }
    if (report_.set_problem(target.error().to_string())) {
      parts_.log.warning("a target of actions cannot be used, and is tried again",
                         {{"target", name_}, {"error", target.error().to_string()}});
    }
    if (link_.is_finishing()) return false;
    link_.wait(kPatience);
  }
  return false;
}

void ActionRunner::take_news(bool at_once) {
  take_fates();
  // Each look has the engine thread feed the target and wake it again, so that many events come
  // with one.
  constexpr milliseconds kBetween{10};
  const Time now = steady_clock::now();
  if (outstanding_.left() >= kMostOutstanding) return;
  if (now < next_look_ && !at_once) return;
  next_look_ = now + kBetween;
  for (const OutFrame& frame : link_.take()) take(frame);
}

void ActionRunner::take(const OutFrame& frame) {
  if (const auto* delivery = std::get_if<ClientDelivery>(&frame)) return take(*delivery);
  const auto message = protocol::open_frame(std::get<protocol::Bytes>(frame));
  if (message) take_reply(**message);
}

void ActionRunner::take_reply(const wire::Message& message) {
  const std::string problem = refusal_in(message);
  if (message.id() != kSubscribe || problem.empty()) return;
  report_.set_problem("subscribe: " + problem);
  link_.wait(kPatience);
  subscribe();
}

OutstandingOrder ActionRunner::outstanding(Order order) const {
  return {.order = std::move(order),
          .deadline = steady_clock::now() + milliseconds(settings_.deadline_ms)};
}

void ActionRunner::take(const ClientDelivery& delivery) {
  report_.lost += delivery.lost.rows;
  if (delivery.shared == nullptr || delivery.rows == 0) return;
  OrderBatch batch;
  BatchCursor cursor(protocol::view_of(*delivery.shared->deliver().batch()));
  for (; !cursor.done(); cursor.advance()) {
    const std::uint32_t row = cursor.position();
    if (row < delivery.first || row >= delivery.first + delivery.rows) continue;
    const Place place = delivery.shared->place(row);
    batch.orders.push_back(
        outstanding({{{place, cursor.to_event()}}, doors::id_of(place) + "/" + name_}));
  }
  batch.last = batch.orders.back().order.rows.front().place;
  OrderBatch& added = outstanding_.add(std::move(batch));
  const Time now = steady_clock::now();
  for (OutstandingOrder& order : added.orders) admit({&added, &order}, now);
}

void ActionRunner::admit(const OrderPlace& place, Time now) {
  const auto& row = place.order->order.rows.front();
  const bool is_inhibited = parts_.inhibitions.is_inhibited(durable_, row.place);
  // With a journal they are kept until the acknowledgement, because the event may come again.
  if (!parts_.has_journal) parts_.inhibitions.forget(durable_, row.place);
  bool is_silenced = false;
  {
    const std::lock_guard lock(mutex_);
    is_silenced = state_.silences.takes(row, system_now());
  }
  if (!is_silenced && !is_inhibited) return groups_.add(place, name_, now);
  ++(is_silenced ? report_.silenced : report_.inhibited);
  outstanding_.finish(place);
}

void ActionRunner::take_ordered() {
  std::vector<Order> ordered;
  {
    const std::lock_guard lock(mutex_);
    ordered = std::exchange(ordered_, {});
  }
  if (ordered.empty()) return;
  OrderBatch batch;
  for (Order& order : ordered) batch.orders.push_back(outstanding(std::move(order)));
  outstanding_.add(std::move(batch));
}

std::vector<OrderPlace> ActionRunner::due(Time now) {
  const auto at_once =
      static_cast<std::size_t>(settings_.is_ordered() ? 4096 : 4 * settings_.in_flight);
  const std::size_t most = rate_.admits(breaker_.admits(at_once, now), now);
  std::vector<OrderPlace> due;
  if (most == 0) return due;
  outstanding_.for_each([&](const OrderPlace& place) {
    const OutstandingOrder& order = *place.order;
    if (order.state != State::waits) return true;
    // When the server ends, each gets its last chance.
    const bool is_due = order.next <= now || (link_.is_finishing() && order.failures == 0);
    if (is_due) due.push_back(place);
    return due.size() < most && (is_due || !settings_.is_ordered());
  });
  rate_.take(due.size());
  for (const OrderPlace& place : due) groups_.close(*place.order);
  return due;
}

std::size_t ActionRunner::attempt_due() {
  const auto tried = due(steady_clock::now());
  if (tried.empty()) return 0;
  std::vector<const Order*> orders;
  for (const OrderPlace& one : tried) orders.push_back(&one.order->order);
  const auto outcomes = target_->attempt(orders);
  if (link_.is_stopped()) return 0;
  const Time now = steady_clock::now();
  for (std::size_t i = 0; i < tried.size(); ++i) {
    settle(tried[i], outcomes[i], now);
    // What leaves in order comes back together.
    if (settings_.is_ordered()) tried[i].order->next = tried.front().order->next;
  }
  if (report_.is_open.exchange(breaker_.is_open()) != breaker_.is_open()) {
    parts_.log.warning(breaker_.is_open() ? "a target of actions fails, and is tried now and then"
                                          : "a target of actions works again",
                       {{"target", name_}, {"problem", report_.info().problem}});
  }
  return tried.size();
}

void ActionRunner::settle(const OrderPlace& tried, const Outcome& outcome, Time now) {
  ++report_.attempts;
  OutstandingOrder& order = *tried.order;
  if (outcome.what == Outcome::What::failed) {
    ++report_.failures;
    breaker_.failed(now, random_);
    report_.set_problem(outcome.problem);
    order.problem = outcome.problem;
    order.next = now + std::max(outcome.pause, actions::pause_after(++order.failures, random_));
    return;
  }
  // A target that refuses an event works.
  breaker_.succeeded();
  report_.set_problem("");
  if (outcome.what == Outcome::What::refused) {
    ++report_.failures;
    return give_up(order, outcome.problem);
  }
  report_.done += order.order.rows.size();
  forget_dead(tried);
  outstanding_.finish(tried);
}

void ActionRunner::acknowledge(Time now) {
  // Each one costs the engine a record.
  constexpr milliseconds kBetween{50};
  if (const auto done = outstanding_.take_done()) done_ = done;
  if (!done_ || !parts_.has_journal || now < next_acknowledgement_) return;
  wire::AcknowledgeT acknowledge;
  acknowledge.durable = durable_;
  acknowledge.root = done_->root;
  acknowledge.ordinal = done_->ordinal;
  link_.push(protocol::encode(kAcknowledge, acknowledge));
  done_.reset();
  next_acknowledgement_ = now + kBetween;
}

ActionRunner::Time ActionRunner::next_due(Time now) {
  Time next = now + kPatience, first_attempt = next;
  if (done_ && parts_.has_journal) next = std::min(next, next_acknowledgement_);
  if (next_look_ > now) next = std::min(next, next_look_);
  {
    const std::lock_guard lock(mutex_);
    if (is_state_new_) next = std::min(next, next_save_);
  }
  outstanding_.for_each([&](const OrderPlace& place) {
    const OutstandingOrder& order = *place.order;
    if (order.state == State::is_dead) next = std::min(next, std::max(order.next, next_save_));
    if (order.state == State::waits) {
      next = std::min(next, order.deadline);
      first_attempt = std::min(first_attempt, order.next);
    }
    // In order, nothing overtakes the first.
    return order.state != State::waits || !settings_.is_ordered();
  });
  if (breaker_.is_open()) first_attempt = std::max(first_attempt, breaker_.next());
  return std::min(next, std::max(first_attempt, rate_.next()));
}

}  // namespace gorgo::server

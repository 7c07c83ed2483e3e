#include <algorithm>
#include <utility>
#include <variant>

#include "server/actions/action_runner.hpp"
#include "server/actions/publications.hpp"
#include "server/refusal.hpp"

// What becomes of orders that are given up, and of what a target is to know again.
namespace gorgo::server {
namespace {

using std::chrono::steady_clock;

/// Before letters that were not taken are published again.
constexpr std::chrono::milliseconds kBetweenLetters{100};
/// Bytes of lines of dead letters that are published together, but for the last order.
constexpr std::size_t kMostLetterBytes = std::size_t{1} << 20;

}  // namespace

void ActionRunner::take_fates() {
  for (const OutFrame& frame : letters_.take()) {
    const auto message = protocol::open_frame(std::get<protocol::Bytes>(frame));
    if (message) take_fate(**message);
  }
}

void ActionRunner::take_fate(const wire::Message& reply) {
  const bool is_taken = refusal_in(reply).empty();
  if (reply.id() == saving_ && !is_taken) {
    const std::lock_guard lock(mutex_);
    is_state_new_ = true;
  }
  if (reply.id() != burial_) return;
  for (const OrderPlace& place : std::exchange(dying_, {})) {
    if (is_taken) {
      outstanding_.finish(place);
    } else {
      place.order->state = State::is_dead;
      place.order->next = steady_clock::now() + kBetweenLetters;
    }
  }
}

void ActionRunner::forget_dead(const OrderPlace& done) {
  if (done.batch->last) return;  // it came from the engine
  const std::lock_guard lock(mutex_);
  is_state_new_ |= state_.dead.forget(done.order->order.key);
}

void ActionRunner::give_up_late(Time now) {
  outstanding_.for_each([&](const OrderPlace& place) {
    OutstandingOrder& order = *place.order;
    if (order.state == State::waits && order.deadline <= now) {
      give_up(order, "deadline_ms has passed" +
                         (order.problem.empty() ? std::string() : ": " + order.problem));
    }
    return true;
  });
}

void ActionRunner::give_up(OutstandingOrder& order, std::string problem) {
  report_.dead += order.order.rows.size();
  order.problem = std::move(problem);
  order.state = State::is_dead;
  order.next = {};
  groups_.close(order);
  const std::lock_guard lock(mutex_);
  state_.dead.add(order.order);
  report_.retriable = state_.dead.retriable();
}

void ActionRunner::publish_dead_letters() {
  const Time now = steady_clock::now();
  if (!dying_.empty() || now < next_save_) return;
  std::size_t bytes = 0;
  std::vector<OrderPlace> dying;
  outstanding_.for_each([&](const OrderPlace& place) {
    const OutstandingOrder& order = *place.order;
    if (order.state != State::is_dead || order.next > now) return true;
    dying.push_back(place);
    return (bytes += actions::lines_of(order.order).size()) < kMostLetterBytes;
  });
  if (dying.empty()) return;
  burial_ = ++last_number_;
  if (!letters_.push(dead_letters_of(durable_, dying, state_to_keep(), burial_))) return;
  for (const OrderPlace& place : dying) place.order->state = State::dying;
  dying_ = std::move(dying);
}

std::string ActionRunner::state_to_keep() {
  const std::lock_guard lock(mutex_);
  is_state_new_ = false;
  if (!parts_.has_journal) return "";
  saving_ = last_number_;
  std::string state = state_.saved();
  // A megabyte a second at most.
  next_save_ = steady_clock::now() + std::chrono::microseconds(state.size());
  return state;
}

void ActionRunner::save_state(bool at_once) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_state_new_ || (!at_once && steady_clock::now() < next_save_)) return;
  }
  ++last_number_;
  const std::string state = state_to_keep();
  if (!state.empty()) letters_.push(state_of(durable_, state, saving_));
}

}  // namespace gorgo::server

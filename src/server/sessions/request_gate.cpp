#include "server/sessions/request_gate.hpp"

#include <algorithm>
#include <utility>

#include "protocol/batch_check.hpp"
#include "protocol/framing.hpp"
#include "server/actions/requests.hpp"
#include "server/doors/requests.hpp"
#include "server/security/permissions.hpp"
#include "server/security/secrets.hpp"
#include "server/sessions/awaiting.hpp"
#include "server/sessions/connections.hpp"
#include "server/sessions/request_texts.hpp"
#include "server/sessions/session.hpp"

namespace gorgo::server {

namespace asio = boost::asio;

namespace {

RecentRate::Time now() { return std::chrono::steady_clock::now(); }

}  // namespace

RequestGate::RequestGate(Session& session)
    : session_(session),
      hub_(session.hub()),
      room_(hub_.io),
      changed_(hub_.io),
      rate_(hub_.io),
      in_hand_(hub_.totals.memory),
      published_(now()) {
  room_.expires_at(asio::steady_timer::time_point::max());
  changed_.expires_at(asio::steady_timer::time_point::max());
}

void RequestGate::set_user(UserPtr user) {
  user_ = std::move(user);
  rate_.cancel();  // the limits may be others
}

Result<void> RequestGate::let_in(const UserPtr& user) {
  auto entered = account_.enter(hub_.accounts, *user);
  if (!entered) return entered;
  user_ = user;
  session_.known();
  return {};
}

void RequestGate::woken() {
  room_.cancel();
  changed_.cancel();
}

asio::awaitable<bool> RequestGate::submit(protocol::Bytes frame, const wire::Message& message) {
  Command request{
      Command::Kind::request, session_.shared_outbox(), {}, work_of(message, frame.size())};
  if (!permit(message, request)) co_return true;
  const bool wanted = prepare(request, message) && own_producer(frame);
  if (!wanted) co_return true;
  request.frame = std::move(frame);
  const bool may_go = co_await take_turn(request);
  if (!may_go) co_return false;
  const std::uint32_t rows = request.work.rows;
  const bool queued = co_await push(request) == CommandQueue::Push::queued;
  if (queued) published_.add(rows);
  // The requests of a session are carried out in order, also behind a text that is checked.
  if (queued && awaits_change()) {
    session_.watch();
    while (awaits_change() && !session_.stopping()) co_await changed_.async_wait(kTuple);
    session_.unwatch();
  }
  co_return queued;
}

bool RequestGate::permit(const wire::Message& message, Command& request) {
  const UserPtr& user = acting_ == nullptr ? user_ : acting_;
  if (!hub_.doorkeeper.asks() && user == nullptr) return true;
  Result<void> allowed = Error{"nobody has logged in on this connection", ""};
  if (user != nullptr) allowed = check_request(*user, message);
  if (!allowed) {
    ++hub_.forbidden;
    session_.reply_error(message.id(), wire::ErrorCode::Forbidden, allowed.error());
    return false;
  }
  const auto* publish = message.body_as_Publish();
  if (publish == nullptr) {
    request.user = user;
  } else if (!may_publish_all(*user, *publish->batch())) {
    request.user = user;
  }
  return true;
}

bool RequestGate::own_producer(protocol::Bytes& frame) {
  auto* message = flatbuffers::GetMutableRoot<wire::Message>(frame.data() + protocol::kPrefix);
  if (user_ == nullptr || message->body_type() != wire::Body::Publish) return true;
  auto* publish = static_cast<wire::Publish*>(message->mutable_body());
  if (publish->producer() == 0) return true;
  const std::uint64_t id = message->id();
  // The journal keeps the frame, so the number of the user's producer has to stand there.
  publish->mutate_producer(number_among_all(user_->name, publish->producer()));
  // In an evil frame other fields may share these bytes.
  const auto again = protocol::open_frame(frame);
  const auto* batch = again ? protocol::batch_of(**again) : nullptr;
  const bool is_whole =
      batch != nullptr &&
      protocol::check_batch(*batch, frame.size(), hub_.options.limits.max_rows).has_value();
  if (is_whole) return true;
  session_.reply_error(id, wire::ErrorCode::Malformed,
                       {"the fields of the publication share bytes", ""});
  return false;
}

bool RequestGate::prepare(Command& request, const wire::Message& message) {
  if (const auto checked = check_texts(message, hub_.options.limits); !checked) {
    session_.reply_error(message.id(), wire::ErrorCode::Invalid, checked.error());
    return false;
  }
  if (answer_about_connections(hub_, session_.outbox(), message)) return false;
  if (answer_about_doors(hub_, session_.outbox(), message)) return false;
  if (answer_about_actions(hub_, session_.outbox(), message)) return false;
  if (message.body_type() == wire::Body::Reload) {
    auto begun = hub_.begin_reload(session_.id());
    if (!begun) {
      session_.reply_error(message.id(), wire::ErrorCode::Invalid, begun.error());
      return false;
    }
    request.reload = std::move(*begun);
  }
  if (takes_turns(message.body_type())) request.done = when_changed();
  return true;
}

std::function<void()> RequestGate::when_changed() {
  changing_ = std::make_shared<std::atomic<bool>>(true);
  return [changing = changing_, outbox = session_.shared_outbox()] {
    *changing = false;
    outbox->wake();
  };
}

asio::awaitable<bool> RequestGate::admit_body() {
  admitted_ = true;
  paid_ = 0;
  if (!has_rates()) co_return true;
  co_return co_await await_rate(0);
}

void RequestGate::pay(std::size_t bytes) {
  if (!has_rates()) return;
  paid_ += bytes;
  account_.take(user_->limits, 0, bytes, now());
}

asio::awaitable<bool> RequestGate::take_turn(const Command& request) {
  const bool has_waited = std::exchange(admitted_, false);
  const std::size_t paid = has_waited ? paid_ : 0;
  if (!has_rates()) co_return true;
  if (!has_waited && !co_await await_rate(request.frame.size())) co_return false;
  const std::size_t bytes = request.frame.size();
  account_.take(user_->limits, request.work.rows, bytes - std::min(bytes, paid), now());
  co_return true;
}

asio::awaitable<bool> RequestGate::await_rate(std::size_t in_hand) {
  auto wait = account_.wait(user_->limits, now());
  if (wait.count() > 0) {
    account_.note_wait(user_->limits, now());
    begin_wait(in_hand);
    while (wait.count() > 0 && !session_.stopping()) {
      rate_.expires_after(wait);
      co_await rate_.async_wait(kTuple);
      wait = account_.wait(user_->limits, now());
    }
    end_wait();
  }
  co_return !session_.stopping();
}

asio::awaitable<CommandQueue::Push> RequestGate::push(Command& request) {
  auto outcome = hub_.queue.push(request);
  if (outcome != CommandQueue::Push::full) co_return outcome;
  ++hub_.stalled_reads;
  begin_wait(request.frame.size());
  while (outcome == CommandQueue::Push::full && !session_.stopping()) {
    co_await room_.async_wait(kTuple);
    outcome = hub_.queue.push(request);
  }
  end_wait();
  co_return outcome;
}

void RequestGate::begin_wait(std::size_t in_hand) {
  waiting_ = true;
  in_hand_.resize(in_hand);
  session_.watch();
}

void RequestGate::end_wait() {
  session_.unwatch();
  waiting_ = false;
  in_hand_.resize(0);
  session_.received();
}

}  // namespace gorgo::server

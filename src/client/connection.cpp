#include "client/connection.hpp"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "client/replies.hpp"
#include "client/tls.hpp"
#include "protocol/address.hpp"
#include "protocol/batch.hpp"
#include "protocol/batch_check.hpp"

namespace gorgo::client {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

std::string lower_first(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

Connection::Connection(const ClientOptions& options)
    : options_(options), cutter_(options.max_frame) {}

template <class Done>
bool Connection::run_until(Clock::time_point deadline, Done done) {
  while (!done()) {
    if (broken_) return false;
    start_reading();
    io_.restart();
    const auto silent = end_of_silence();
    if (io_.run_one_until(std::min(deadline, silent)) > 0) continue;
    if (Clock::now() >= deadline) return done();
    if (Clock::now() < silent) continue;
    fail({"nothing came from " + address_ + " for longer than the server is ever silent",
          "the connection is given up; connect anew"});
  }
  return true;
}

Connection::Clock::time_point Connection::end_of_silence() const {
  return patience_ && reading_ ? received_ + *patience_ : Clock::time_point::max();
}

void Connection::answer_pings() {
  if (pongs_due_ == 0 || writing_ || broken_) return;
  --pongs_due_;
  writing_ = true;
  asio::async_write(stream_, asio::buffer(pong_), [this](error_code, std::size_t) {
    writing_ = false;
    answer_pings();
  });
}

Connection::Clock::time_point Connection::deadline() const {
  return Clock::now() + std::chrono::nanoseconds(options_.timeout);
}

template <class Begin>
error_code Connection::await(Begin begin) {
  std::optional<error_code> outcome;
  begin([&outcome](error_code failure, const auto&...) { outcome = failure; });
  io_.restart();
  for (const auto until = deadline(); !outcome && io_.run_one_until(until) > 0;) {
  }
  if (outcome) return *outcome;
  error_code ignored;
  stream_.socket().close(ignored);
  io_.restart();
  io_.run();
  return asio::error::timed_out;
}

Result<void> Connection::connect(const protocol::Address& to) {
  error_code failure;
  tcp::resolver resolver(io_);
  const auto endpoints = resolver.resolve(to.host, to.port, failure);
  if (failure) {
    return Error{"cannot resolve " + address_ + ": " + lower_first(failure.message()), ""};
  }
  failure = await([&](auto done) { asio::async_connect(stream_.socket(), endpoints, done); });
  if (failure) {
    return Error{"cannot connect to " + address_ + ": " + lower_first(failure.message()) +
                     "; is `gorgo serve` running?",
                 ""};
  }
  stream_.socket().set_option(tcp::no_delay(true), failure);
  return {};
}

Result<void> Connection::secure(const std::string& host) {
  auto context = make_tls_context(options_.tls);
  if (!context) return context.error();
  context_.emplace(std::move(*context));
  stream_.secure(*context_);
  expect_host(stream_.tls(), host);
  const error_code failure =
      await([&](auto done) { stream_.async_handshake(asio::ssl::stream_base::client, done); });
  if (!failure) return {};
  return handshake_error(stream_.tls(), address_, failure);
}

Result<void> Connection::open(const std::string& address) {
  address_ = address;
  const auto parts = protocol::parse_address(address);
  if (!parts) return parts.error();
  if (auto connected = connect(*parts); !connected) return connected;
  if (options_.tls.enabled) return secure(parts->host);
  return {};
}

bool Connection::is_private() const {
  error_code gone;
  return stream_.is_secure() || stream_.socket().remote_endpoint(gone).address().is_loopback();
}

Error Connection::timed_out() {
  fail({"no answer from " + address_ + " within " + std::to_string(options_.timeout / 1'000'000) +
            " ms",
        "the connection is given up; connect anew"});
  return *broken_;
}

void Connection::fail(Error error) {
  if (!broken_) broken_ = std::move(error);
  error_code ignored;
  stream_.socket().close(ignored);
}

Result<void> Connection::send(std::uint64_t id, const protocol::Bytes& frame, bool awaited) {
  if (broken_) return *broken_;
  if (!run_until(deadline(), [&] { return !writing_; })) return broken_ ? *broken_ : timed_out();
  if (awaited) awaited_[id];
  bool written = false;
  error_code failure;
  writing_ = true;
  asio::async_write(stream_, asio::buffer(frame), [&](error_code e, std::size_t) {
    failure = e;
    written = true;
    writing_ = false;
    answer_pings();
  });
  const bool in_time = run_until(deadline(), [&] { return written; });
  const Error gave_up = in_time || broken_ ? Error{} : timed_out();
  if (!written) {  // closed above: the handler, which refers to this frame, runs at once
    io_.restart();
    while (!written && io_.run_one() > 0) {
    }
  }
  if (broken_) return *broken_;
  if (failure) {
    fail({"lost the connection to " + address_ + ": " + lower_first(failure.message()), ""});
    return *broken_;
  }
  return {};
}

Result<protocol::Bytes> Connection::reply(std::uint64_t id) {
  const auto slot = awaited_.find(id);
  const bool there = run_until(deadline(), [&] { return slot->second.has_value(); });
  if (!there) return broken_ ? *broken_ : timed_out();
  protocol::Bytes frame = std::move(*slot->second);
  awaited_.erase(slot);
  return frame;
}

Result<std::optional<Delivery>> Connection::next(Duration timeout) {
  const auto until = Clock::now() + std::chrono::nanoseconds(timeout);
  if (!run_until(until, [&] { return !deliveries_.empty(); })) {
    if (broken_) return *broken_;
    return std::optional<Delivery>();
  }
  Delivery delivery = std::move(deliveries_.front());
  deliveries_.pop_front();
  return std::optional(std::move(delivery));
}

void Connection::start_reading() {
  if (reading_ || broken_ || deliveries_.size() > options_.max_undelivered) return;
  reading_ = true;
  const auto space = cutter_.space();
  stream_.async_read_some(
      asio::buffer(space.data(), space.size()), [this](error_code e, std::size_t size) {
        reading_ = false;
        if (e) {
          return fail({e == asio::error::eof
                           ? "the server at " + address_ + " closed the connection"
                           : "lost the connection to " + address_ + ": " + lower_first(e.message()),
                       ""});
        }
        received_ = Clock::now();
        cutter_.fill(size);
        take_frames();
      });
}

void Connection::take_frames() {
  while (!broken_) {
    auto frame = cutter_.next();
    if (!frame) return fail(frame.error());
    if (!*frame) return;
    take(std::move(**frame));
  }
}

void Connection::take(protocol::Bytes frame) {
  const auto message = protocol::open_frame(frame);
  if (!message) return fail(message.error());
  const auto slot = awaited_.find((*message)->id());
  if (slot != awaited_.end()) {
    slot->second = std::move(frame);
  } else {
    take_unasked(**message, frame.size());
  }
}

void Connection::take_unasked(const wire::Message& message, std::size_t frame_size) {
  if (const auto* deliver = message.body_as_Deliver()) return take_delivery(*deliver, frame_size);
  if (const auto* ack = message.body_as_Ack()) return take_refusals(*ack);
  if (message.body_type() == wire::Body::Leaving) leaving_ = true;
  if (message.body_as_Ping() != nullptr) {
    ++pongs_due_;
    return answer_pings();
  }
  const auto* error = message.body_as_Error();
  if (error == nullptr) return;  // the late answer to a request that was given up
  if (message.id() == 0) return fail(to_error(*error));
  const Error refusal = to_error(*error);
  unacknowledged_.refusals.push_back({0, refusal.message, refusal.hint});
}

void Connection::take_refusals(const wire::Ack& ack) {
  constexpr std::size_t kKept = 1000;
  unacknowledged_.refused += ack.refused();
  for (auto& refusal : to_refusals(ack, 0)) {
    if (unacknowledged_.refusals.size() < kKept) {
      unacknowledged_.refusals.push_back(std::move(refusal));
    }
  }
}

void Connection::take_delivery(const wire::Deliver& deliver, std::size_t frame_size) {
  const auto rows = protocol::row_count(*deliver.batch());
  const auto* from = deliver.from();
  const bool fits = deliver.roots() != nullptr && protocol::is_aligned(deliver.roots()) &&
                    deliver.roots()->size() == rows && deliver.ordinals() != nullptr &&
                    deliver.ordinals()->size() == rows && deliver.subscriptions()->size() > 0 &&
                    (from == nullptr || from->size() == 0 || from->size() == rows);
  const auto checked = protocol::check_batch(*deliver.batch(), frame_size, std::uint32_t{1} << 31);
  if (!fits || !checked) return fail({"the server sent a damaged delivery", ""});
  if (deliver.lost() > 0) {
    lost_ += deliver.lost();
    if (lost_before_.events == 0) {
      lost_before_.first = {deliver.first_lost_root(), deliver.first_lost_ordinal()};
    }
    lost_before_.events += deliver.lost();
    lost_before_.last = {deliver.last_lost_root(), deliver.last_lost_ordinal()};
  }
  for (BatchCursor event(protocol::view_of(*deliver.batch())); !event.done(); event.advance()) {
    const std::uint32_t row = event.position();
    const std::uint16_t which = from == nullptr || from->size() == 0 ? 0 : from->Get(row);
    if (which >= deliver.subscriptions()->size()) {
      return fail({"the server sent a damaged delivery", ""});
    }
    deliveries_.push_back({deliver.subscriptions()->Get(which),
                           {deliver.roots()->Get(row), deliver.ordinals()->Get(row)},
                           event.to_event(),
                           std::exchange(lost_before_, {})});
  }
}

}  // namespace gorgo::client

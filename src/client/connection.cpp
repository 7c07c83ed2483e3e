#include "client/connection.hpp"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <utility>

#include "client/replies.hpp"
#include "client/tls.hpp"
#include "protocol/batch.hpp"
#include "protocol/batch_check.hpp"

namespace gorgo::client {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// The elements; nothing where they do not lie as their type must.
template <class T>
std::span<const T> span_of(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr || !protocol::is_aligned(vector)) return {};
  return {reinterpret_cast<const T*>(vector->Data()), vector->size()};
}

/// The events of a delivery, or nothing when its parts do not fit together.
std::optional<DeliveredBatch> open_delivery(const wire::Deliver& deliver, protocol::Bytes frame) {
  const auto rows = protocol::row_count(*deliver.batch());
  DeliveredBatch batch;
  batch.roots = span_of(deliver.roots());
  batch.ordinals = span_of(deliver.ordinals());
  batch.from = span_of(deliver.from());
  batch.subscriptions.assign(deliver.subscriptions()->begin(), deliver.subscriptions()->end());
  const bool fits =
      batch.roots.size() == rows && batch.ordinals.size() == rows && !batch.subscriptions.empty() &&
      (batch.from.empty() || batch.from.size() == rows) &&
      std::ranges::all_of(batch.from,
                          [&](std::uint16_t which) { return which < batch.subscriptions.size(); });
  const auto checked =
      protocol::check_batch(*deliver.batch(), frame.size(), std::uint32_t{1} << 31);
  if (!fits || !checked) return std::nullopt;
  batch.events = protocol::view_of(*deliver.batch());
  // The views stay where they are: moving a vector moves no element.
  batch.memory = std::make_shared<const protocol::Bytes>(std::move(frame));
  return batch;
}

}  // namespace

Connection::Connection(asio::io_context& io, const ClientOptions& options, ConnectionOwner& owner)
    : io_(io), options_(options), owner_(&owner), cutter_(options.max_frame) {}

void Connection::close() {
  owner_ = nullptr;
  resolver_.cancel();
  fail({"the client has closed the connection", "", kClosed});
}

Clock::time_point Connection::end_of_silence() const {
  return patience_ && reading_ ? received_ + *patience_ : Clock::time_point::max();
}

bool Connection::is_over() {
  if (!broken_ && Clock::now() >= end_of_silence()) {
    fail({"nothing came from " + address_ + " for longer than the server is ever silent",
          "the connection is given up; connect anew", kConnect});
  }
  return broken_.has_value();
}

Coroutine<Error> Connection::until_broken() {
  const auto self = shared_from_this();
  while (!is_over()) co_await changed_.wait(end_of_silence());
  co_return *broken_;
}

Error Connection::timed_out(Duration waited) {
  fail({"no answer from " + address_ + " within " + std::to_string(waited / 1'000'000) + " ms",
        "the connection is given up; connect anew", kTimeout});
  return *broken_;
}

void Connection::fail(Error error) {
  if (!broken_) broken_ = std::move(error);
  error_code ignored;
  stream_.socket().close(ignored);
  changed_.notify();
}

void Connection::post(Frame frame) {
  if (broken_) return;
  outgoing_.push_back(std::move(frame));
  write_on();
}

void Connection::write_on() {
  static const Frame pong =
      std::make_shared<const protocol::Bytes>(protocol::encode(0, wire::PongT()));
  constexpr std::size_t kMostFrames = 64;
  if (!writing_.empty() || broken_) return;
  if (pongs_due_ > 0) {
    --pongs_due_;
    writing_.push_back(pong);
  }
  while (!outgoing_.empty() && writing_.size() < kMostFrames) {
    writing_.push_back(std::move(outgoing_.front()));
    outgoing_.pop_front();
  }
  if (writing_.empty()) return;
  std::vector<asio::const_buffer> buffers;
  for (const Frame& frame : writing_) buffers.push_back(asio::buffer(*frame));
  asio::async_write(
      stream_, buffers, [this, self = shared_from_this()](error_code failure, std::size_t) {
        writing_.clear();
        if (failure) {
          return fail({"lost the connection to " + address_ + ": " + plain(failure), "", kConnect});
        }
        write_on();
        changed_.notify();
      });
}

Result<void> Connection::send(std::uint64_t id, protocol::Bytes frame, bool awaited) {
  if (broken_) return *broken_;
  if (awaited) awaited_[id];
  post(std::make_shared<const protocol::Bytes>(std::move(frame)));
  const auto written = [this] { return writing_.empty() && outgoing_.empty(); };
  if (run_until(deadline(), written) && !broken_) return {};
  return broken_ ? *broken_ : timed_out(options_.timeout);
}

Result<protocol::Bytes> Connection::reply(std::uint64_t id) {
  const auto slot = awaited_.find(id);
  const bool there = run_until(after(reply_timeout()), [&] { return slot->second.has_value(); });
  if (!there) return broken_ ? *broken_ : timed_out(reply_timeout());
  protocol::Bytes frame = std::move(*slot->second);
  awaited_.erase(slot);
  return frame;
}

Coroutine<Result<protocol::Bytes>> Connection::reply_to(std::uint64_t id, Duration timeout) {
  const auto self = shared_from_this();
  const auto until = after(timeout);
  while (!awaited_[id] && !is_over() && Clock::now() < until) {
    co_await changed_.wait(std::min(until, end_of_silence()));
  }
  auto reply = std::move(awaited_[id]);
  awaited_.erase(id);
  if (reply) co_return *std::move(reply);
  if (broken_) co_return *broken_;
  co_return timed_out(timeout);
}

void Connection::start_reading() {
  // A reply may stand behind deliveries that nobody takes while it is awaited.
  if (reading_ || broken_ || (!owner_->has_room() && awaited_.empty())) return;
  reading_ = true;
  const auto space = cutter_.space();
  stream_.async_read_some(
      asio::buffer(space.data(), space.size()),
      [this, self = shared_from_this()](error_code e, std::size_t size) {
        reading_ = false;
        if (e) {
          return fail({e == asio::error::eof
                           ? "the server at " + address_ + " closed the connection"
                           : "lost the connection to " + address_ + ": " + plain(e),
                       "", kConnect});
        }
        received_ = Clock::now();
        cutter_.fill(size);
        take_frames();
        start_reading();
        changed_.notify();
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
    take_unasked(**message, std::move(frame));
  }
}

void Connection::take_unasked(const wire::Message& message, protocol::Bytes frame) {
  if (const auto* deliver = message.body_as_Deliver()) {
    return take_delivery(*deliver, std::move(frame));
  }
  if (message.body_type() == wire::Body::Leaving) leaving_ = true;
  if (message.body_as_Ping() != nullptr) {
    ++pongs_due_;
    return write_on();
  }
  const auto* error = message.body_as_Error();
  if (error != nullptr && message.id() == 0) return fail(to_error(*error));
  owner_->take_reply(message);
}

void Connection::take_delivery(const wire::Deliver& deliver, protocol::Bytes frame) {
  auto batch = open_delivery(deliver, std::move(frame));
  if (!batch) return fail({"the server sent a damaged delivery", "", "Malformed"});
  Lost lost;
  if (deliver.lost() > 0) {
    lost = {deliver.lost(),
            {deliver.first_lost_root(), deliver.first_lost_ordinal()},
            {deliver.last_lost_root(), deliver.last_lost_ordinal()}};
  }
  owner_->take(*std::move(batch), lost);
}

}  // namespace gorgo::client

#include "gorgo/publisher.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "client/replies.hpp"
#include "client/sender.hpp"

namespace gorgo {
namespace {

using client::after;
using client::Coroutine;
using client::Tally;
using client::TallyPointer;

Outcome outcome_of(const Tally& tally) {
  if (tally.doubt) return {Outcome::Kind::unknown, tally.published, *tally.doubt};
  const bool refused = tally.published.refused > 0;
  return {refused ? Outcome::Kind::refused : Outcome::Kind::accepted, tally.published, {}};
}

void add(Published& sum, const Published& more) {
  sum.accepted += more.accepted;
  sum.refused += more.refused;
  sum.duplicates += more.duplicates;
  for (const Refusal& refusal : more.refusals) sum.refusals.push_back(refusal);
}

}  // namespace

struct Publisher::Impl final : client::Sender {
  using Sender::Sender;

  BatchBuilder collected;                         // by `send`, not posted yet
  TallyPointer sent = std::make_shared<Tally>();  // by `send`, since the last `flush`
  std::vector<TallyPointer> unknown;              // since then

  bool has_space() const { return unanswered.bytes() < options.publish_bytes || link.ended(); }
  /// Whether nothing more will become known of it.
  bool is_settled(const TallyPointer& tally) const { return tally->waiting == 0 || link.ended(); }
  bool is_flushed() const;
  void idle() override { (void)post_collected(); }
  Result<void> post_collected();
  Error no_space() const;
  Result<Outcome> settle(const TallyPointer& tally);
  Outcome settle_all();
  /// Why `send` takes no such event.
  std::optional<Error> problem_of_next(const Event& event) const;
  /// Why `publish` sends none of these events.
  std::optional<Error> problem_of_any(std::span<const Event> events) const;
  Result<void> collect(const Event& event);
  bool wait_for_space();
  template <class Events>
  Result<Outcome> publish(const Events& events);
  template <class Events>
  Coroutine<Result<Outcome>> publish_later(Events events);
  Coroutine<Result<void>> send_later(Event event);
  Coroutine<Outcome> flush_later();
};

Result<void> Publisher::Impl::post_collected() {
  BatchBuilder batch = std::exchange(collected, {});
  return post(batch.batch(), sent);
}

Error Publisher::Impl::no_space() const {
  if (link.ended()) return *link.ended();
  return {std::to_string(unanswered.bytes()) +
              " bytes wait for an answer of the server; nothing was sent",
          "is the server there? publish_bytes is the limit", client::kTimeout};
}

Result<Outcome> Publisher::Impl::settle(const TallyPointer& tally) {
  if (tally->waiting == 0) return outcome_of(*tally);
  unknown.push_back(tally);
  const Error why = link.ended()
                        ? *link.ended()
                        : why_unanswered("the events are being sent again; flush tells the rest");
  return Outcome{Outcome::Kind::unknown, tally->published, why};
}

bool Publisher::Impl::is_flushed() const {
  return link.ended() || (unanswered.empty() && collected.events() == 0);
}

Outcome Publisher::Impl::settle_all() {
  Tally all = *sent;
  for (const TallyPointer& tally : unknown) {
    add(all.published, tally->published);
    all.waiting += tally->waiting;
    if (tally->doubt) all.doubt = tally->doubt;
  }
  Outcome outcome = outcome_of(all);
  if (all.waiting > 0 || collected.events() > 0) {
    outcome.kind = Outcome::Kind::unknown;
    outcome.reason =
        link.ended() ? *link.ended() : why_unanswered("the events are being sent again");
    return outcome;  // all of it is told again, when it is known
  }
  sent = std::make_shared<Tally>();
  unknown.clear();
  return outcome;
}

bool Publisher::Impl::wait_for_space() {
  return link.run_until(after(options.client.timeout), [this] { return has_space(); }) &&
         !link.ended();
}

std::optional<Error> Publisher::Impl::problem_of_next(const Event& event) const {
  return problem_of(event, sent->sent + collected.events());
}

std::optional<Error> Publisher::Impl::problem_of_any(std::span<const Event> events) const {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (auto problem = problem_of(events[i], i)) return problem;
  }
  return std::nullopt;
}

Result<void> Publisher::Impl::collect(const Event& event) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  collected.add(event);
  const bool enough =
      collected.events() >= options.batch || collected.bytes() >= kMostBytes || collected.full();
  return enough || unanswered.empty() ? post_collected() : Result<void>();
}

template <class Events>
Result<Outcome> Publisher::Impl::publish(const Events& events) {
  if (!wait_for_space()) return no_space();
  if (auto posted = post_collected(); !posted) return posted.error();
  const auto tally = std::make_shared<Tally>();
  if (auto posted = post(events, tally); !posted) return posted.error();
  link.run_until(after(options.client.timeout), [&] { return is_settled(tally); });
  return settle(tally);
}

template <class Events>
Coroutine<Result<Outcome>> Publisher::Impl::publish_later(Events events) {
  const auto self = shared_from_this();
  const auto until = after(options.client.timeout);
  while (!has_space() && client::Clock::now() < until) co_await link.changed().wait(until);
  if (!has_space() || link.ended()) co_return no_space();
  auto posted = post_collected();
  const auto tally = std::make_shared<Tally>();
  if (posted) posted = post(events, tally);
  if (!posted) co_return posted.error();
  while (!is_settled(tally) && client::Clock::now() < until) co_await link.changed().wait(until);
  co_return settle(tally);
}

Coroutine<Result<void>> Publisher::Impl::send_later(Event event) {
  const auto self = shared_from_this();
  const auto until = after(options.client.timeout);
  while (!has_space() && client::Clock::now() < until) co_await link.changed().wait(until);
  if (!has_space() || link.ended()) co_return no_space();
  co_return collect(event);
}

Coroutine<Outcome> Publisher::Impl::flush_later() {
  const auto self = shared_from_this();
  const auto until = after(options.client.timeout);
  (void)post_collected();
  while (!is_flushed() && client::Clock::now() < until) co_await link.changed().wait(until);
  co_return settle_all();
}

namespace {

bool lacks_number(const PublisherOptions& options) {
  return options.client.producer != 0 && !options.first_sequence;
}

}  // namespace

Publisher::Publisher(std::shared_ptr<Loop::Impl> loop, std::shared_ptr<Impl> impl)
    : loop_(std::move(loop)), impl_(std::move(impl)) {}
Publisher::Publisher(Publisher&&) noexcept = default;
Publisher& Publisher::operator=(Publisher&& other) noexcept {
  std::swap(loop_, other.loop_);
  std::swap(impl_, other.impl_);
  return *this;
}
Publisher::~Publisher() {
  if (impl_) impl_->link.close();
}

Result<Publisher> Publisher::open(const std::string& address, PublisherOptions options) {
  if (lacks_number(options)) return client::no_sequence();
  auto loop = std::make_shared<Loop::Impl>();
  auto impl = std::make_shared<Impl>(loop->io, address, options);
  const auto opened = client::run(loop->io, impl->link.open(*impl));
  if (!opened) return opened.error();
  return Publisher(std::move(loop), std::move(impl));
}

Awaited<Result<Publisher>> Publisher::async_open(Loop& loop, const std::string& address) {
  return async_open(loop, address, PublisherOptions());
}
Awaited<Result<Publisher>> Publisher::async_open(Loop& loop, const std::string& address,
                                                 const PublisherOptions& options) {
  const auto& owner = loop.impl();
  auto impl = std::make_shared<Impl>(owner->io, address, options);
  return client::awaited<Result<Publisher>>(owner->io,
                                            [owner, impl]() -> Coroutine<Result<Publisher>> {
                                              if (lacks_number(impl->options)) {
                                                co_return client::no_sequence();
                                              }
                                              const auto opened = co_await impl->link.open(*impl);
                                              if (!opened) co_return opened.error();
                                              co_return Publisher(owner, impl);
                                            });
}

Result<Outcome> Publisher::publish(std::span<const Event> events) {
  if (auto problem = impl_->problem_of_any(events)) return *problem;
  return impl_->publish(events);
}
Result<Outcome> Publisher::publish(const EventBatch& batch) { return impl_->publish(batch); }

Awaited<Result<Outcome>> Publisher::async_publish(std::span<const Event> events) {
  if (auto problem = impl_->problem_of_any(events)) {
    return Awaited<Result<Outcome>>(Result<Outcome>(*problem));
  }
  return client::awaited<Result<Outcome>>(
      loop_->io, [impl = impl_, copy = std::vector<Event>(events.begin(), events.end())] {
        return impl->publish_later(copy);
      });
}
Awaited<Result<Outcome>> Publisher::async_publish(const EventBatch& batch) {
  BatchBuilder copy;
  for (BatchCursor event(batch); !event.done(); event.advance()) copy.add(event.to_event());
  return client::awaited<Result<Outcome>>(
      loop_->io,
      [impl = impl_, kept = std::make_shared<BatchBuilder>(std::move(copy))]()
          -> Coroutine<Result<Outcome>> { co_return co_await impl->publish_later(kept->batch()); });
}

Result<void> Publisher::send(const Event& event) {
  constexpr std::uint32_t kBetweenPolls = 16;
  if (auto problem = impl_->problem_of_next(event)) return *problem;
  if (!impl_->wait_for_space()) return impl_->no_space();
  if (impl_->unanswered.empty() || impl_->collected.events() % kBetweenPolls == 0) {
    loop_->io.restart();
    loop_->io.poll();
  }
  return impl_->collect(event);
}
Result<void> Publisher::send(const EventBatch& batch) {
  if (!impl_->wait_for_space()) return impl_->no_space();
  if (auto posted = impl_->post_collected(); !posted) return posted;
  auto posted = impl_->post(batch, impl_->sent);
  loop_->io.restart();
  loop_->io.poll();
  return posted;
}
Awaited<Result<void>> Publisher::async_send(const Event& event) {
  if (auto problem = impl_->problem_of_next(event)) {
    return Awaited<Result<void>>(Result<void>(*problem));
  }
  if (impl_->has_space() && !impl_->link.ended()) {
    return Awaited<Result<void>>(impl_->collect(event));
  }
  return client::awaited<Result<void>>(loop_->io,
                                       [impl = impl_, event] { return impl->send_later(event); });
}

Result<void> Publisher::tick(Timestamp timestamp) {
  if (!impl_->wait_for_space()) return impl_->no_space();
  if (auto posted = impl_->post_collected(); !posted) return posted;
  impl_->post_tick(timestamp, impl_->sent);
  return {};
}

Outcome Publisher::flush() {
  (void)impl_->post_collected();
  impl_->link.run_until(after(impl_->options.client.timeout),
                        [this] { return impl_->is_flushed(); });
  return impl_->settle_all();
}
Awaited<Outcome> Publisher::async_flush() {
  return client::awaited<Outcome>(loop_->io, [impl = impl_] { return impl->flush_later(); });
}

Outcome Publisher::drain() {
  Outcome outcome = flush();
  impl_->link.close();
  return outcome;
}
Awaited<Outcome> Publisher::async_drain() {
  return client::awaited<Outcome>(loop_->io, [impl = impl_]() -> Coroutine<Outcome> {
    Outcome outcome = co_await impl->flush_later();
    impl->link.close();
    co_return outcome;
  });
}

void Publisher::run_for(Duration time) {
  impl_->link.run_until(after(time), [] { return false; });
}

bool Publisher::is_connected() const { return impl_->link.is_up(); }
bool Publisher::is_leaving() const {
  return impl_->link.is_up() && impl_->link.connection()->is_leaving();
}
std::uint64_t Publisher::reconnections() const { return impl_->link.reconnections(); }
std::size_t Publisher::waiting_bytes() const { return impl_->unanswered.bytes(); }

}  // namespace gorgo

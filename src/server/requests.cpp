#include <algorithm>
#include <limits>
#include <utility>

#include "dispatch/rules/rule_base.hpp"
#include "protocol/batch_check.hpp"
#include "server/declaration.hpp"
#include "server/engine_thread.hpp"
#include "server/memory_reserve.hpp"
#include "server/replies.hpp"
#include "server/security/permissions.hpp"
#include "server/security/rule_permissions.hpp"

// What each request does, on the engine thread. Everything but publications and ticks happens
// between two batches: what was appended before is evaluated and delivered first.
namespace gorgo::server {
namespace {

constexpr std::size_t kMostRefusals = 64;
/// One request may ask about so many terminators at most, because everybody waits for the answer.
constexpr std::uint32_t kMostTerminators = 100;

std::unique_ptr<wire::RefusalT> refusal(std::uint32_t row, const Error& error) {
  auto refused = std::make_unique<wire::RefusalT>();
  refused->row = row;
  refused->reason = error.message;
  refused->hint = error.hint;
  return refused;
}

Result<void> check_ack(wire::AckMode mode, const JournalWriter& journal) {
  if (mode == wire::AckMode::Durable && !journal.is_on()) {
    return Error{
        "this server keeps events in memory, so it cannot acknowledge that they are durable",
        "use Accepted or Processed, or start the server with --journal"};
  }
  if (mode <= wire::AckMode::MAX) return {};
  return Error{"this server does not know that acknowledgement",
               "use Accepted, Processed, Durable or None"};
}

/// Whether the request changes what the journal keeps, other than by publishing.
bool is_kept(wire::Body kind) { return changes_rules(kind) || kind == wire::Body::Pin; }

Result<SlowConsumer> slow_consumer_of(wire::SlowPolicy policy, const Limits& limits) {
  switch (policy) {
    case wire::SlowPolicy::Default:
      return limits.slow_consumer;
    case wire::SlowPolicy::Disconnect:
      return SlowConsumer::disconnect;
    case wire::SlowPolicy::Drop:
      return SlowConsumer::drop;
    case wire::SlowPolicy::Block:
      return SlowConsumer::block;
  }
  return Error{"this server does not know that policy for slow subscribers",
               "use Default, Disconnect, Drop or Block"};
}

Result<Subscriptions::Manner> manner_of(const wire::Subscribe& request, const Limits& limits) {
  const auto slow = slow_consumer_of(request.slow(), limits);
  if (!slow) return slow.error();
  Subscriptions::Manner manner{.slow = *slow};
  if (request.credit_rows()) manner.credit.rows = *request.credit_rows();
  if (request.credit_bytes()) manner.credit.bytes = *request.credit_bytes();
  return manner;
}

/// Whether the event could be delivered, if need be in a frame of its own.
Result<void> fits_in_a_frame(const BatchCursor& event, const Limits& limits) {
  const auto bytes = delivery_bytes(event, limits);
  if (bytes <= limits.max_frame) return {};
  return Error{"the event needs " + std::to_string(bytes) +
                   " bytes to be delivered, more than the " + std::to_string(limits.max_frame) +
                   " of a frame",
               "publish smaller values, or raise limits.max_frame"};
}

/// For the journal; empty: nobody was asked.
std::string name_of(const UserPtr& user) { return user == nullptr ? "" : user->name; }

/// The largest timestamp that an accepted event of the batch can have. The server stamps with `now`
/// at most.
Timestamp last_timestamp(const EventBatch& batch, Timestamp now) {
  Timestamp last = std::numeric_limits<Timestamp>::min();
  for (const EventTable& table : batch.tables) {
    if (table.timestamps.empty() && table.events > 0) last = std::max(last, now);
    for (const Timestamp timestamp : table.timestamps) last = std::max(last, timestamp);
  }
  return last;
}

void note_refusal(wire::AckT& ack, const BatchCursor& event, const Error& why) noexcept {
  if (++ack.refused > kMostRefusals) return;
  try {
    ack.refusals.push_back(refusal(event.position(), why));
  } catch (const std::bad_alloc&) {
    // The client still learns of it from the count.
  }
}

}  // namespace

void EngineThread::handle_request(Command& command, const wire::Message& message) {
  Outbox& client = *command.client;
  const std::uint64_t id = message.id();
  if (message.body_type() == wire::Body::Publish) {
    return publish(command, id, *message.body_as_Publish());
  }
  if (message.body_type() == wire::Body::Tick) return tick(client, id, *message.body_as_Tick());
  if (message.body_type() == wire::Body::Trace) {
    return trace(command, id, *message.body_as_Trace());
  }
  process();
  if (journal_.read_only() && is_kept(message.body_type())) {
    client.reply(error_reply(id, wire::ErrorCode::Overloaded, *journal_.read_only()));
    return;
  }
  if (command.user != nullptr) {
    if (auto allowed = check_user(*command.user, message); !allowed) {
      client.reply(error_reply(id, wire::ErrorCode::Forbidden, allowed.error()));
      return;
    }
  }
  switch (message.body_type()) {
    case wire::Body::Declare:
      return declare(command, id, *message.body_as_Declare());
    case wire::Body::Subscribe:
      return subscribe(command, id, *message.body_as_Subscribe());
    case wire::Body::Unsubscribe:
      return unsubscribe(client, id, *message.body_as_Unsubscribe());
    case wire::Body::Deploy:
      return deploy(command, id, *message.body_as_Deploy());
    case wire::Body::Remove:
      return remove(command, id, *message.body_as_Remove());
    case wire::Body::Pin:
      return pin(command, id, *message.body_as_Pin());
    case wire::Body::ListRules:
      return list(command, id, *message.body_as_ListRules());
    case wire::Body::ListTypes:
      client.reply(types_reply(
          id, processor_.type_count(), message.body_as_ListTypes()->first(),
          [this](std::size_t first, std::size_t count) {
            auto types = processor_.types(first, count);
            for (TypeInfo& type : types) type.is_subscribed = subscriptions_.wants(type.name);
            return types;
          },
          processor_.schema()));
      return;
    case wire::Body::ListDevices:
      client.reply(devices_reply(id, devices()));
      return;
    case wire::Body::AskStatistics:
      client.reply(statistics_reply(id, statistics(), latency_.histogram()));
      return;
    case wire::Body::Credit:
      return grant(client, id, *message.body_as_Credit());
    case wire::Body::Acknowledge:
      return acknowledge(command, id, *message.body_as_Acknowledge());
    case wire::Body::EndDurable:
      return end_durable(command, id, *message.body_as_EndDurable());
    case wire::Body::AskHistory:
      client.reply(
          history_reply(id, book_.history(), command.user.get(), *message.body_as_AskHistory()));
      return;
    case wire::Body::ListDurables:
      return list_durables(command, id);
    case wire::Body::AskWhy:
      return ask_why(client, id, *message.body_as_AskWhy());
    default:
      client.reply(error_reply(
          id, wire::ErrorCode::UnknownMessage,
          {std::string(protocol::name_of(message.body_type())) + " is not a request", ""}));
  }
}

void EngineThread::publish(Command& command, std::uint64_t id, const wire::Publish& request) {
  auto publication = std::move(command.publication);
  const std::uint64_t producer = request.producer();
  if (publication == nullptr) {
    publication = std::make_unique<Publication>(*request.batch(), command.user);
    publication->frame = command.frame;
    if (const auto known = check_ack(request.ack(), journal_); !known) {
      command.client->reply(error_reply(id, wire::ErrorCode::Invalid, known.error()));
      return;
    }
    if (const auto room = journal_.make_room(command.frame.size()); !room) {
      command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
      return;
    }
    publication->applied_before = producers_.last(producer);
    if (producer != 0 && !producers_.advance(producer, request.sequence())) {
      publication->ack.duplicate = true;
      // What it repeats may not be durable yet.
      acknowledge(command, id, *publication, std::nullopt);
      return;
    }
    watch_clock(*command.client, publication->batch.next().batch());
  }
  const std::uint32_t most = command.piece_rows > 0 ? command.piece_rows : UINT32_MAX;
  // No row can be too large for a delivery when the whole frame would fit with room to spare.
  const bool measured = command.frame.size() > limits_.max_frame / 2;
  if (append(*publication, most, measured)) {
    command.publication = std::move(publication);
    return queue_.put_back(std::move(command));
  }
  const wire::AckT& ack = publication->ack;
  if (ack.accepted == 0 && memory_reserve::is_given_up()) {
    // Nothing of it was applied, so the same publication may be sent again.
    if (producer != 0) producers_.retract(producer, publication->applied_before);
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, kShortOfMemory));
    return;
  }
  const Timestamp last = last_timestamp(publication->batch.next().batch(), clock_.now());
  latency_.add(command.received, ack.accepted, last);
  acknowledge(command, id, *publication, last);
}

void EngineThread::acknowledge(const Command& command, std::uint64_t id,
                               const Publication& publication, std::optional<Timestamp> last) {
  const wire::AckMode mode = command.message().body_as_Publish()->ack();
  if (mode == wire::AckMode::None && publication.ack.refused == 0) return;
  protocol::Bytes ack = protocol::encode(id, publication.ack);
  if (mode == wire::AckMode::Processed && last) {
    return processed_acks_.add(command.client, std::move(ack), *last);
  }
  if (mode == wire::AckMode::Durable) {
    return journal_.reply_when_durable(command.client, std::move(ack));
  }
  journal_.reply(command.client, std::move(ack));
}

void EngineThread::watch_clock(const Outbox& client, const EventBatch& batch) {
  clock_watch_.begin();
  for (const EventTable& table : batch.tables) {
    for (const Timestamp timestamp : table.timestamps) clock_watch_.take(timestamp);
  }
  clock_watch_.end(client, std::chrono::steady_clock::now());
}

bool EngineThread::append(Publication& publication, std::uint32_t most, bool measured) {
  const IncomingBatch& batch = publication.batch;
  while (most > 0 && !batch.done()) {
    const std::uint32_t before = batch.next().position();
    append_some(publication, most, measured);
    most -= batch.next().position() - before;
    process_if_many();
  }
  publication.ack.accepted = batch.accepted();
  return !batch.done();
}

void EngineThread::append_some(Publication& publication, std::uint32_t most, bool measured) {
  IncomingBatch& batch = publication.batch;
  const std::uint32_t first = batch.next().position(), accepted = batch.accepted();
  const EngineClock::Hold held(clock_);
  refused_rows_.clear();
  const auto refuse = [&](const BatchCursor& event, const Error& why) {
    ++refused_;
    note_refusal(publication.ack, event, why);
    if (journal_.is_on()) refused_rows_.push_back(event.position());
  };
  Intake intake{.events = most,
                .pending = limits_.batch_events,
                .pending_bytes = limits_.batch_bytes,
                .pause = memory_reserve::is_given_up,
                .check = {}};
  const User* const user = publication.restricted.get();
  if (measured || user != nullptr) {
    intake.check = [this, measured, user, &publication](const BatchCursor& event) {
      if (user != nullptr && publication.is_forbidden[event.table_number()]) {
        ++refused_forbidden_;
        return check_publish(*user, event.table().type);
      }
      auto fits = measured ? fits_in_a_frame(event, limits_) : Result<void>();
      if (!fits) ++refused_too_large_;
      return fits;
    };
  }
  // Nothing is taken from the little memory that evaluations may need.
  bool short_of_memory = memory_reserve::is_given_up();
  try {
    if (!short_of_memory) processor_.append(batch, refuse, intake);
  } catch (const std::bad_alloc&) {
    short_of_memory = true;
  }
  if (short_of_memory) {
    ++refused_for_memory_;
    refuse(batch.next(), kShortOfMemory);
    batch.leave_out();
  }
  if (!journal_.is_on()) return;
  // Without an accepted row so far, nothing happened that a replay would miss.
  if (batch.accepted() == accepted && publication.frame_at == 0) return;
  publication.frame_at = journal_.write({.frame = publication.frame,
                                         .frame_at = publication.frame_at,
                                         .clock = held.reading(),
                                         .first_row = first,
                                         .rows = batch.next().position() - first,
                                         .refused = refused_rows_});
}

void EngineThread::tick(Outbox& client, std::uint64_t id, const wire::Tick& request) {
  clock_watch_.begin();
  clock_watch_.take(request.timestamp());
  clock_watch_.end(client, std::chrono::steady_clock::now());
  if (const auto room = journal_.make_room(0); !room) {
    client.reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
    return;
  }
  const auto ticked = processor_.tick(request.timestamp());
  if (ticked) {
    journal::stored::ClockMoveT move;
    move.clock = request.timestamp();
    move.given = true;
    journal_.write<journal::stored::ClockMove>(journal::stored::Kind::ClockMove, move);
  }
  client.reply(ticked ? ack(id) : error_reply(id, wire::ErrorCode::Invalid, ticked.error()));
  process_if_many();
}

void EngineThread::declare(const Command& command, std::uint64_t id, const wire::Declare& request) {
  auto declared = journal_.make_room(command.frame.size());
  if (declared) declared = server::declare(processor_, request);
  if (declared) journal_.write_request(command.frame);
  types_.post(processor_.schema());
  journal_.reply_when_durable(
      command.client,
      declared ? ack(id) : error_reply(id, wire::ErrorCode::Invalid, declared.error()));
}

void EngineThread::subscribe(const Command& command, std::uint64_t id,
                             const wire::Subscribe& request) {
  const auto& client = command.client;
  if (auto may = subscription_counts_.check(command.user.get()); !may) {
    client->reply(error_reply(id, wire::ErrorCode::Overloaded, may.error()));
    return;
  }
  if (request.durable() != nullptr) return subscribe_durable(command, id, request);
  const auto manner = manner_of(request, client->limits());
  if (!manner) {
    client->reply(error_reply(id, wire::ErrorCode::Invalid, manner.error()));
    return;
  }
  const auto added = subscriptions_.add(client, request.subscription(), request.text()->str(),
                                        *manner, processor_.schema());
  if (!added.subscribed) {
    client->reply(error_reply(id, wire::ErrorCode::Invalid, added.subscribed.error()));
  } else if (!added.diagnostics.list.empty()) {
    client->reply(diagnostics_reply(id, added.diagnostics));
  } else {
    subscription_counts_.added(*client, command.user.get());
    client->reply(ack(id));
  }
}

void EngineThread::unsubscribe(Outbox& client, std::uint64_t id, const wire::Unsubscribe& request) {
  const std::uint32_t subscription = request.subscription();
  if (subscriptions_.remove(client, subscription) || durables_.detach(client, subscription)) {
    subscription_counts_.removed(client);
    client.reply(ack(id));
    return;
  }
  client.reply(error_reply(
      id, wire::ErrorCode::NotFound,
      {"this connection has no subscription " + std::to_string(request.subscription()), ""}));
}

void EngineThread::grant(Outbox& client, std::uint64_t id, const wire::Credit& request) {
  if (client.grant(request.subscription(), request.rows(), request.bytes())) return;
  client.reply(error_reply(id, wire::ErrorCode::NotFound,
                           {"no subscription " + std::to_string(request.subscription()) +
                                " of this connection needs credit",
                            "subscribe with credit_rows or credit_bytes"}));
}

void EngineThread::check(const wire::Deploy& request) {
  const DeployOptions options{.replace = request.replace(), .with_history = request.with_history()};
  checker_.begin([this, snapshot = processor_.snapshot(), name = request.name()->str(),
                  text = request.text()->str(), options]() mutable {
    checked_ =
        prepare_rules(std::exchange(snapshot, nullptr), std::move(name), std::move(text), options);
  });
}

Result<void> EngineThread::check_user(const User& user, const wire::Message& message) const {
  if (const auto* subscribe = message.body_as_Subscribe()) {
    if (user.subscribe.allows_all()) return {};
    const auto parsed = Filter::parse(subscribe->text()->str(), processor_.schema());
    // What is wrong with the text is told as to everybody.
    return parsed.filter ? check_subscribe(user, parsed.filter->type()) : Result<void>();
  }
  const auto* remove = message.body_as_Remove();
  if (remove == nullptr) return {};
  const std::string name = remove->rule()->str();
  if (processor_.rule(name)) return check_deployment(user, deployments_.owner_of(name));
  return check_deployment(user, stem_of(name));
}

void EngineThread::deploy(const Command& command, std::uint64_t id, const wire::Deploy& request) {
  Outbox& client = *command.client;
  try {
    checker_.finish();
  } catch (const std::exception& failure) {
    client.reply(error_reply(
        id, wire::ErrorCode::Overloaded,
        {std::string("the rules cannot be checked: ") + failure.what(), "deploy fewer at a time"}));
    return;
  }
  const auto prepared = std::exchange(checked_, nullptr);
  if (command.user != nullptr && !prepared->diagnostics.failed()) {
    auto allowed = check_rules(*command.user, *prepared, deployments_, processor_);
    if (!allowed) {
      client.reply(error_reply(id, wire::ErrorCode::Forbidden, allowed.error()));
      return;
    }
  }
  if (request.check()) {
    client.reply(diagnostics_reply(id, prepared->diagnostics));
    return;
  }
  const auto diagnostics = book_.deploy(prepared, {.who = name_of(command.user)});
  types_.post(processor_.schema());  // before the reply, after which the client relies on it
  if (!diagnostics.failed()) deployments_.note(request.name()->str(), *prepared);
  rate_watch_.rules_came(std::chrono::steady_clock::now());
  log_.info(diagnostics.failed() ? "rules refused" : "rules deployed",
            {{"name", request.name()->str()},
             {"session", client.id()},
             {"diagnostics", diagnostics.list.size()}});
  journal_.reply_when_durable(command.client, diagnostics_reply(id, diagnostics));
}

void EngineThread::remove(const Command& command, std::uint64_t id, const wire::Remove& request) {
  const std::string name = request.rule()->str();
  const RuleBook::Origin origin{.who = name_of(command.user)};
  const auto removed = book_.remove(name, origin);
  const auto rules = removed ? std::vector{name} : deployments_.take(name, processor_);
  for (const std::string& rule : rules) {
    deployments_.forget(rule);
    if (!removed) static_cast<void>(book_.remove(rule, origin));
    log_.info("rule removed", {{"rule", rule}, {"session", command.client->id()}});
  }
  types_.post(processor_.schema());
  journal_.reply_when_durable(
      command.client,
      rules.empty() ? error_reply(id, wire::ErrorCode::NotFound, removed.error()) : ack(id));
}

void EngineThread::pin(const Command& command, std::uint64_t id, const wire::Pin& request) {
  const std::string rule = request.rule()->str(), engine = request.engine()->str();
  const auto pinned = book_.pin(rule, engine, name_of(command.user));
  if (!pinned) {
    command.client->reply(error_reply(id, wire::ErrorCode::Invalid, pinned.error()));
    return;
  }
  log_.info("rule pinned", {{"rule", rule}, {"engine", engine}, {"session", command.client->id()}});
  journal_.reply_when_durable(command.client, ack(id));
}

void EngineThread::list(const Command& command, std::uint64_t id, const wire::ListRules& request) {
  Outbox& client = *command.client;
  const User* const user = command.user.get();
  const bool sees_all = user == nullptr || user->deployments.allows_all();
  if (request.name() == nullptr || request.name()->size() == 0) {
    client.reply(sees_all ? all_rules(id, request.first()) : rules_of(*user, id, request.first()));
    return;
  }
  const std::string name = request.name()->str();
  auto rule = processor_.rule(name);
  if (!sees_all && !(rule && is_rule_of(*user, name, deployments_))) {
    // The usual words may name a rule that is spelt like it, of somebody else.
    rule = Error{"there is no rule '" + name + "'", ""};
  }
  if (!rule) {
    client.reply(error_reply(id, wire::ErrorCode::NotFound, rule.error()));
    return;
  }
  add_rates(*rule);
  client.reply(rule_reply(id, *rule, processor_.schema(), limits_.max_frame));
}

protocol::Bytes EngineThread::all_rules(std::uint64_t id, std::uint32_t from) const {
  return rules_reply(
      id, processor_.rule_count(), from,
      [this](std::size_t first, std::size_t count) {
        auto rules = processor_.rules(first, count);
        for (RuleInfo& rule : rules) add_rates(rule);
        return rules;
      },
      processor_.schema());
}

protocol::Bytes EngineThread::rules_of(const User& user, std::uint64_t id,
                                       std::uint32_t from) const {
  const auto rules = visible_rules(user, deployments_, processor_);
  return rules_reply(
      id, rules.size(), from,
      [&](std::size_t first, std::size_t count) {
        const std::size_t begin = std::min(first, rules.size());
        const std::size_t end = std::min(begin + count, rules.size());
        std::vector<RuleInfo> page(rules.begin() + static_cast<std::ptrdiff_t>(begin),
                                   rules.begin() + static_cast<std::ptrdiff_t>(end));
        for (RuleInfo& rule : page) add_rates(rule);
        return page;
      },
      processor_.schema());
}

Statistics EngineThread::statistics() const {
  const ProcessorCounters& processed = processor_.counters();
  Statistics all = {{"events_accepted", processed.accepted},
                    {"events_refused", refused_},
                    {"composites", processed.composites},
                    {"events_late", processed.late},
                    {"events_too_late", processed.too_late},
                    {"events_ahead", clock_watch_.counts().ahead},
                    {"events_too_ahead", clock_watch_.counts().too_ahead},
                    {"composites_dropped", processed.dropped_composites},
                    {"composites_too_deep", processed.dropped_depth},
                    {"terminators_passed_over", processed.passed_over},
                    {"oversize_rows", subscriptions_.oversize()},
                    {"memory_shortages", shortages()},
                    {"changes_dropped", dropped_changes()},
                    {"held_events", processor_.held(), true},
                    {"held_bytes_peak", processed.peak_held_bytes, true},
                    {"rules", processor_.rule_count(), true},
                    {"subscription_texts", subscriptions_.texts(), true},
                    {"durable_backlog_rows", durables_.rows(), true},
                    {"durable_backlog_bytes", durables_.bytes(), true}};
  if (journal_.is_on()) {
    all.push_back({"journal_records", journal_.journal().end() - 1, true});
    all.push_back({"journal_durable_records", journal_.journal().durable() - 1, true});
  }
  add_refusals(all);
  for (const auto& [user, times] : subscription_counts_.refused()) {
    all.push_back({"user_subscriptions_refused", times, false, "user", user.c_str()});
  }
  return all;
}

/// Their sum is `events_refused`.
void EngineThread::add_refusals(Statistics& statistics) const {
  const ProcessorCounters& processed = processor_.counters();
  const auto add = [&](const char* reason, std::uint64_t events) {
    statistics.push_back({"events_refused_by_reason", events, false, "reason", reason});
  };
  add("too_late", processed.too_late);
  add("too_ahead", processed.too_ahead);
  add("too_large", refused_too_large_);
  add("forbidden", refused_forbidden_);
  add("memory", refused_for_memory_);
  add("invalid", refused_ - processed.too_late - processed.too_ahead - refused_too_large_ -
                     refused_forbidden_ - refused_for_memory_);
}

void EngineThread::ask_why(Outbox& client, std::uint64_t id, const wire::AskWhy& request) {
  WhyOptions options{.last = std::min(request.last(), kMostTerminators), .at = {}};
  if (request.at()) options.at = *request.at();
  const auto why = processor_.why(request.rule()->str(), options);
  client.reply(why ? why_reply(id, *why, limits_.max_frame)
                   : error_reply(id, wire::ErrorCode::NotFound, why.error()));
}

}  // namespace gorgo::server

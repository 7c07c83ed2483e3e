#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "server/declaration.hpp"
#include "server/engine_thread.hpp"
#include "server/replies.hpp"
#include "server/security/permissions.hpp"

// What each request does, on the engine thread. Everything but publications and ticks happens
// between two batches: what was appended before is evaluated and delivered first.
namespace gorgo::server {
namespace {

/// One request may ask about so many terminators at most, because changes of rules wait for the
/// answer.
constexpr std::uint32_t kMostTerminators = 100;

/// Whether the request changes what the journal keeps, other than by publishing.
bool is_kept(wire::Body kind) {
  return changes_rules(kind) || kind == wire::Body::Pin || kind == wire::Body::DeclareDoor ||
         kind == wire::Body::RemoveDoor;
}

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

/// The type that a subscription begins with; "*" where it begins with no name.
std::string_view first_name(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c >= 0x80;
  });
  const auto name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  return name.empty() ? "*" : name;
}

Result<Subscriptions::Manner> manner_of(const wire::Subscribe& request, const User* user,
                                        const Limits& limits) {
  const auto slow = slow_consumer_of(request.slow(), limits);
  if (!slow) return slow.error();
  Subscriptions::Manner manner{.slow = *slow, .patterns = patterns_of(user)};
  if (request.credit_rows()) manner.credit.rows = *request.credit_rows();
  if (request.credit_bytes()) manner.credit.bytes = *request.credit_bytes();
  return manner;
}

}  // namespace

void EngineThread::handle_request(Command& command, const wire::Message& message) {
  Outbox& client = *command.client;
  const std::uint64_t id = message.id();
  if (message.body_type() == wire::Body::Publish) {
    switch (admission_.publish(command, id, *message.body_as_Publish())) {
      case Admission::Progress::over:
        return;
      case Admission::Progress::rows_left:
        return queue_.put_back(std::move(command));
      // What was not done costs nothing.
      case Admission::Progress::no_room:
        return queue_.put_off(std::exchange(command, {}));
    }
    return;
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
    case wire::Body::PromoteShadow:
      return promote(command, id, *message.body_as_PromoteShadow());
    case wire::Body::DropShadow:
      return drop_shadow(command, id, *message.body_as_DropShadow());
    case wire::Body::ListShadows:
      return list_shadows(command, id);
    case wire::Body::Pin:
      return pin(command, id, *message.body_as_Pin());
    case wire::Body::ListRules:
      return list(command, id, *message.body_as_ListRules());
    case wire::Body::ListTypes:
      client.reply(types_reply(
          id, processor_.type_count(), message.body_as_ListTypes()->first(),
          [this](std::size_t first, std::size_t count) {
            auto types = processor_.types(first, count);
            for (TypeInfo& type : types) type.is_subscribed = is_subscribed(type.name);
            return types;
          },
          processor_.schema()));
      return;
    case wire::Body::ListDevices:
      client.reply(devices_reply(id, devices()));
      return;
    case wire::Body::AskStatistics:
      client.reply(statistics_reply(
          id, statistics(), {{"latency", admission_.latency().histogram()}, {"turn", turns_}}));
      return;
    case wire::Body::Credit:
      return grant(client, id, *message.body_as_Credit());
    case wire::Body::Acknowledge:
      return acknowledge(command, id, *message.body_as_Acknowledge());
    case wire::Body::EndDurable:
      return end_durable(command, id, *message.body_as_EndDurable());
    case wire::Body::DeclareDoor:
      return declare_door(command, id, *message.body_as_DeclareDoor());
    case wire::Body::RemoveDoor:
      return remove_door(command, id, *message.body_as_RemoveDoor());
    case wire::Body::AskHistory:
      client.reply(
          history_reply(id, book_.history(), command.user.get(), *message.body_as_AskHistory()));
      return;
    case wire::Body::ListDurables:
      return list_durables(command, id);
    default:
      client.reply(error_reply(
          id, wire::ErrorCode::UnknownMessage,
          {std::string(protocol::name_of(message.body_type())) + " is not a request", ""}));
  }
}

void EngineThread::tick(Outbox& client, std::uint64_t id, const wire::Tick& request) {
  ClockWatch& watch = admission_.clock_watch();
  watch.begin(processor_.clock());
  watch.take(request.timestamp());
  watch.end(client, std::chrono::steady_clock::now());
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
  const auto manner = manner_of(request, command.user.get(), client->limits());
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

Result<void> EngineThread::check_user(const User& user, const wire::Message& message) const {
  if (const auto* subscribe = message.body_as_Subscribe()) {
    if (user.subscribe.allows_all()) return {};
    const std::string text = subscribe->text()->str();
    const auto parsed = Filter::parse(text, processor_.schema(), patterns_of(&user));
    // What is said of a text that is wrong names attributes of the type.
    return check_subscribe(user, parsed.filter ? parsed.filter->type() : first_name(text));
  }
  const auto* remove = message.body_as_Remove();
  if (remove == nullptr) return {};
  const std::string name = remove->rule()->str();
  if (rule_to_remove(*remove)) return check_deployment(user, deployments_.owner_of(name));
  return check_deployment(user, stem_of(name));
}

Statistics EngineThread::statistics() const {
  const ProcessorCounters& processed = processor_.counters();
  Statistics all = {{"events_accepted", processed.accepted},
                    {"events_refused", admission_.refused()},
                    {"composites", processed.composites},
                    {"events_late", processed.late},
                    {"events_too_late", processed.too_late},
                    {"events_ahead", admission_.clock_watch().counts().ahead},
                    {"events_too_ahead", admission_.clock_watch().counts().too_ahead},
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
                    {"durable_events_dropped", durables_.dropped()},
                    {"durable_backlog_rows", durables_.rows(), true},
                    {"durable_backlog_bytes", durables_.bytes(), true}};
  if (journal_.is_on()) {
    all.push_back({"journal_records", journal_.journal().end() - 1, true});
    all.push_back({"journal_durable_records", journal_.journal().durable() - 1, true});
  }
  admission_.report(all);
  for (const auto& [user, times] : subscription_counts_.refused()) {
    all.push_back({"user_subscriptions_refused", times, false, "user", user.c_str()});
  }
  return all;
}

bool EngineThread::explain(const Command& command) {
  const wire::Message& message = command.message();
  Outbox& client = *command.client;
  if (checker_.is_busy()) {
    if (!checker_.is_done()) return false;
    tell_why(client, message.id());
    return true;
  }
  if (client.closed()) return true;
  process();
  if (inquiry_ == nullptr && !inquire(client, message.id(), *message.body_as_AskWhy())) return true;
  if (!processor_.gather(inquiry_, end_of_piece())) {
    queue_.push_control({Command::Kind::checked});
    return false;
  }
  checker_.begin([this, inquiry = std::exchange(inquiry_, nullptr)]() mutable {
    why_ = answer(inquiry, stops_answers_);
    inquiry = nullptr;  // its copies of events
  });
  return false;
}

bool EngineThread::inquire(Outbox& client, std::uint64_t id, const wire::AskWhy& request) {
  WhyOptions options{.last = std::min(request.last(), kMostTerminators), .at = {}};
  if (request.at()) options.at = *request.at();
  options.max_time = std::chrono::nanoseconds(limits_.why).count();
  options.max_bytes = limits_.memory_bytes;
  const auto inquiry = processor_.inquire(request.rule()->str(), options);
  if (inquiry) {
    inquiry_ = *inquiry;
  } else {
    client.reply(error_reply(id, wire::ErrorCode::NotFound, inquiry.error()));
  }
  return inquiry_ != nullptr;
}

void EngineThread::tell_why(Outbox& client, std::uint64_t id) {
  checker_.finish();
  const auto why = std::exchange(why_, std::nullopt);
  client.reply(*why ? why_reply(id, **why, limits_.max_frame)
                    : error_reply(id, wire::ErrorCode::Overloaded, why->error()));
}

}  // namespace gorgo::server

#include <string>
#include <utility>

#include "server/engine/engine_thread.hpp"
#include "server/replies.hpp"

// Who carries out which request. Everything but publications and ticks happens between two batches:
// what was appended before is evaluated and delivered first.
namespace gorgo::server {
namespace {

/// Whether the request changes what the journal keeps, other than by publishing.
bool is_kept(wire::Body kind) {
  return changes_rules(kind) || kind == wire::Body::Pin || kind == wire::Body::DeclareDoor ||
         kind == wire::Body::RemoveDoor;
}

}  // namespace

void EngineThread::publish(Command& command, std::uint64_t id, const wire::Publish& request) {
  switch (admission_.publish(command, id, request)) {
    case Admission::Progress::over:
      return;
    case Admission::Progress::rows_left:
      return queue_.put_back(std::move(command));
    // What was not done costs nothing.
    case Admission::Progress::no_room:
      return queue_.put_off(std::exchange(command, {}));
  }
}

void EngineThread::handle_request(Command& command) {
  const wire::Message& message = command.message();
  const std::uint64_t id = message.id();
  Outbox& client = *command.client;
  if (const auto* request = message.body_as_Publish()) return publish(command, id, *request);
  if (const auto* request = message.body_as_Tick()) return tick(client, id, *request);
  if (const auto* request = message.body_as_Trace()) return trace_.trace(command, id, *request);
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
      return rule_requests_.declare(command, id, *message.body_as_Declare());
    case wire::Body::Subscribe:
      return subscription_requests_.subscribe(command, id, *message.body_as_Subscribe());
    case wire::Body::Unsubscribe:
      return subscription_requests_.unsubscribe(client, id, *message.body_as_Unsubscribe());
    case wire::Body::Deploy:
      return rule_requests_.deploy(command, id, *message.body_as_Deploy());
    case wire::Body::Remove:
      return rule_requests_.remove(command, id, *message.body_as_Remove());
    case wire::Body::PromoteShadow:
      return rule_requests_.promote(command, id, *message.body_as_PromoteShadow());
    case wire::Body::DropShadow:
      return rule_requests_.drop_shadow(command, id, *message.body_as_DropShadow());
    case wire::Body::ListShadows:
      return rule_requests_.list_shadows(command, id);
    case wire::Body::Pin:
      return rule_requests_.pin(command, id, *message.body_as_Pin());
    case wire::Body::ListRules:
      return rule_listing_.list(command, id, *message.body_as_ListRules());
    case wire::Body::ListTypes:
      return rule_listing_.list_types(command, id, *message.body_as_ListTypes());
    case wire::Body::ListDevices:
      client.reply(devices_reply(id, devices()));
      return;
    case wire::Body::AskStatistics:
      client.reply(statistics_reply(
          id, statistics(), {{"latency", admission_.latency().histogram()}, {"turn", turns_}}));
      return;
    case wire::Body::Credit:
      return subscription_requests_.grant(client, id, *message.body_as_Credit());
    case wire::Body::Acknowledge:
      return subscription_requests_.acknowledge(command, id, *message.body_as_Acknowledge());
    case wire::Body::EndDurable:
      return subscription_requests_.end_durable(command, id, *message.body_as_EndDurable());
    case wire::Body::DeclareDoor:
      return door_requests_.declare(command, id, *message.body_as_DeclareDoor());
    case wire::Body::RemoveDoor:
      return door_requests_.remove(command, id, *message.body_as_RemoveDoor());
    case wire::Body::AskHistory:
      client.reply(
          history_reply(id, book_.history(), command.user.get(), *message.body_as_AskHistory()));
      return;
    case wire::Body::ListDurables:
      return subscription_requests_.list_durables(command, id);
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

Result<void> EngineThread::check_user(const User& user, const wire::Message& message) const {
  if (const auto* subscribe = message.body_as_Subscribe()) {
    return subscription_requests_.check_user(user, *subscribe);
  }
  const auto* remove = message.body_as_Remove();
  return remove == nullptr ? Result<void>() : rule_requests_.check_user(user, *remove);
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
    all.push_back({"user_subscriptions_refused", times, false, "user", user});
  }
  return all;
}

}  // namespace gorgo::server

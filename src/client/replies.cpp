#include "client/replies.hpp"

namespace gorgo::client {
namespace {

std::vector<std::string> strings_of(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* texts) {
  std::vector<std::string> list;
  if (texts == nullptr) return list;
  for (const auto* text : *texts) list.push_back(text->str());
  return list;
}

ShadowInfo to_shadow(const wire::ShadowInfo& shadow) {
  ShadowInfo info;
  info.name = shadow.name()->str();
  info.who = text_of(shadow.who());
  info.since = shadow.since();
  info.rules = strings_of(shadow.rules());
  info.replaced = strings_of(shadow.replaced());
  info.events = shadow.events();
  info.refused = shadow.refused();
  info.filling = shadow.filling();
  info.full_at = shadow.full_at();
  info.counts = {shadow.both(), shadow.only_deployed(), shadow.only_shadow()};
  info.before = {shadow.both_before(), shadow.only_deployed_before(), shadow.only_shadow_before()};
  info.deployed_samples = strings_of(shadow.deployed_samples());
  info.shadow_samples = strings_of(shadow.shadow_samples());
  info.stopped = text_of(shadow.stopped());
  return info;
}

}  // namespace

Error to_error(const wire::Error& error) {
  return {error.message()->str(), text_of(error.hint()), wire::EnumNameErrorCode(error.code())};
}

Diagnostics to_diagnostics(const wire::Diagnostics& diagnostics) {
  Diagnostics result;
  if (diagnostics.list() == nullptr) return result;
  for (const auto* d : *diagnostics.list()) {
    const bool warning = d->severity() == wire::Severity::Warning;
    result.list.push_back({warning ? Severity::warning : Severity::error,
                           text_of(d->file()),
                           {d->line(), d->column(), d->length()},
                           d->message()->str(),
                           text_of(d->hint()),
                           text_of(d->source_line())});
  }
  return result;
}

DeviceInfo to_device(const wire::DeviceInfo& device) {
  DeviceInfo info{.engine = device.engine()->str(),
                  .number = device.number(),
                  .problem = text_of(device.problem()),
                  .failures = device.failures(),
                  .failure = text_of(device.failure()),
                  .failed_on = text_of(device.failed_on()),
                  .counters = {}};
  if (device.counters() == nullptr) return info;
  for (const auto* counter : *device.counters()) {
    info.counters.push_back({counter->name()->str(), counter->value()});
  }
  return info;
}

Histogram to_histogram(const wire::Statistics& statistics, std::string_view name) {
  Histogram result;
  if (statistics.histograms() == nullptr) return result;
  for (const auto* found : *statistics.histograms()) {
    const auto *bounds = found->bounds(), *counts = found->counts();
    if (found->name()->string_view() != name || bounds == nullptr || counts == nullptr) continue;
    for (flatbuffers::uoffset_t i = 0; i < bounds->size() && i < counts->size(); ++i) {
      result.bounds.push_back(bounds->Get(i));
      result.counts.push_back(counts->Get(i));
    }
  }
  return result;
}

Door to_door(const wire::DoorInfo& door) {
  using protocol::text_of;
  return {.name = text_of(door.name()),
          .kind = text_of(door.kind()),
          .direction = text_of(door.direction()),
          .target = text_of(door.target()),
          .state = text_of(door.state()),
          .problem = text_of(door.problem()),
          .position = text_of(door.position()),
          .events = door.events(),
          .refused = door.refused(),
          .dead_letters = door.dead_letters(),
          .lost = door.lost(),
          .failures = door.failures(),
          .declared = door.declared()};
}

ActionTarget to_action(const wire::ActionInfo& action) {
  using protocol::text_of;
  ActionTarget target{.name = text_of(action.name()),
                      .kind = text_of(action.kind()),
                      .address = text_of(action.address()),
                      .state = text_of(action.state()),
                      .problem = text_of(action.problem()),
                      .dry_run = action.dry_run(),
                      .waiting = action.waiting(),
                      .done = action.done(),
                      .attempts = action.attempts(),
                      .failures = action.failures(),
                      .dead = action.dead(),
                      .retriable = action.retriable(),
                      .lost = action.lost(),
                      .silenced = action.silenced(),
                      .inhibited = action.inhibited(),
                      .silences = {}};
  if (action.silences() == nullptr) return target;
  for (const auto* silence : *action.silences()) {
    target.silences.push_back({.id = silence->id(),
                               .matchers = strings_of(silence->matchers()),
                               .until = silence->until(),
                               .comment = text_of(silence->comment())});
  }
  return target;
}

ClientConnection to_connection(const wire::ConnectionInfo& connection) {
  return {.id = connection.id(),
          .peer = text_of(connection.peer()),
          .dialect = text_of(connection.dialect()),
          .name = text_of(connection.name()),
          .user = text_of(connection.user()),
          .seconds = connection.seconds(),
          .bytes = connection.bytes(),
          .backlog = connection.backlog(),
          .subscriptions = connection.subscriptions(),
          .published = connection.published(),
          .delivered = connection.delivered(),
          .published_per_second = connection.published_per_second(),
          .delivered_per_second = connection.delivered_per_second(),
          .reason = text_of(connection.reason()),
          .detail = text_of(connection.detail()),
          .closed_ms = connection.closed_ms()};
}

std::vector<ShadowInfo> to_shadows(const wire::Shadows& shadows) {
  std::vector<ShadowInfo> list;
  if (shadows.list() == nullptr) return list;
  for (const auto* shadow : *shadows.list()) list.push_back(to_shadow(*shadow));
  return list;
}

Trace to_trace(const wire::Traced& traced) {
  Trace trace{.timestamp = traced.timestamp(),
              .held = traced.held(),
              .queue = static_cast<Duration>(traced.queue()),
              .ahead = static_cast<Duration>(traced.ahead()),
              .sequence = static_cast<Duration>(traced.sequence()),
              .evaluate = static_cast<Duration>(traced.evaluate()),
              .deliver = static_cast<Duration>(traced.deliver()),
              .copies = traced.copies(),
              .rules = {},
              .composites = {}};
  if (traced.rules() != nullptr) {
    for (const auto* rule : *traced.rules()) {
      trace.rules.push_back(
          {rule->name()->str(), rule->reads(), rule->terminators(), rule->composites()});
    }
  }
  if (traced.composites() != nullptr) {
    for (const auto* line : *traced.composites()) trace.composites.push_back(line->str());
  }
  return trace;
}

std::vector<Refusal> to_refusals(const wire::Ack& ack, std::size_t offset) {
  std::vector<Refusal> refusals;
  if (ack.refusals() == nullptr) return refusals;
  for (const auto* refusal : *ack.refusals()) {
    refusals.push_back(
        {offset + refusal->row(), refusal->reason()->str(), text_of(refusal->hint())});
  }
  return refusals;
}

Error unexpected(const wire::Message& reply) {
  if (reply.body_type() == wire::Body::Error) return to_error(*reply.body_as_Error());
  return {
      "the server answered with an unexpected " + std::string(protocol::name_of(reply.body_type())),
      "do client and server speak the same version?"};
}

}  // namespace gorgo::client

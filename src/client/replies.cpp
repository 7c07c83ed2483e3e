#include "client/replies.hpp"

namespace gorgo::client {

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

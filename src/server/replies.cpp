#include "server/replies.hpp"

#include <algorithm>

#include "protocol/info.hpp"

namespace gorgo::server {
namespace {

constexpr std::size_t kMostDiagnostics = 1000;
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kPageBytes = std::size_t{256} << 10;

/// At most `size` bytes, not cut inside a character.
std::string cut(const std::string& text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

std::unique_ptr<wire::DiagnosticT> to_wire(const Diagnostic& d) {
  auto diagnostic = std::make_unique<wire::DiagnosticT>();
  diagnostic->severity =
      d.severity == Severity::error ? wire::Severity::Error : wire::Severity::Warning;
  diagnostic->file = cut(d.file, kLongestLine);
  diagnostic->line = d.at.line;
  diagnostic->column = d.at.column;
  diagnostic->length = d.at.length;
  diagnostic->message = cut(d.message, kLongestLine);
  diagnostic->hint = cut(d.hint, kLongestLine);
  diagnostic->source_line = cut(d.source_line, kLongestLine);
  return diagnostic;
}

/// As many as help anyone. Errors may stand behind a thousand warnings, and a failure must look
/// like one.
std::vector<std::unique_ptr<wire::DiagnosticT>> first_diagnostics(const Diagnostics& diagnostics) {
  std::vector<std::unique_ptr<wire::DiagnosticT>> first;
  const auto take = [&](Severity severity) {
    for (const Diagnostic& d : diagnostics.list) {
      if (first.size() >= kMostDiagnostics) return;
      if (d.severity == severity) first.push_back(to_wire(d));
    }
  };
  if (diagnostics.list.size() <= kMostDiagnostics) {
    for (const Diagnostic& d : diagnostics.list) first.push_back(to_wire(d));
  } else {
    take(Severity::error);
    take(Severity::warning);
  }
  return first;
}

std::unique_ptr<wire::DeviceInfoT> to_wire(const DeviceInfo& device) {
  auto info = std::make_unique<wire::DeviceInfoT>();
  info->engine = device.engine;
  info->number = device.number;
  info->problem = device.problem;
  info->failures = device.failures;
  info->failure = device.failure;
  info->failed_on = cut(device.failed_on, kLongestLine);
  for (const auto& [name, value] : device.counters) {
    auto counter = std::make_unique<wire::DeviceCounterT>();
    counter->name = name;
    counter->value = value;
    info->counters.push_back(std::move(counter));
  }
  return info;
}

/// About how many bytes a rule takes in a frame.
std::size_t size_of(const RuleInfo& rule) {
  std::size_t bytes = rule.name.size() + rule.type.size() + 128;
  for (const std::string& type : rule.reads) bytes += type.size() + 16;
  return bytes + rule.placed_because.size() + rule.alarm.size() + rule.costs.size() * 64;
}

using Attributes = std::vector<std::unique_ptr<wire::AttributeTypeT>>;

/// Adds the attributes of a type, unless they alone would fill a page. Returns their bytes, about.
std::size_t add_attributes(const EventType* type, Attributes& added) {
  if (type == nullptr) return 0;
  constexpr std::size_t kEach = 32;
  std::size_t bytes = 0;
  for (const AttributeType& a : type->attributes) bytes += a.name.size() + kEach;
  if (bytes > kPageBytes) return 0;
  for (const AttributeType& a : type->attributes) {
    if (a.name.empty()) continue;  // hidden
    auto& attribute = *added.emplace_back(std::make_unique<wire::AttributeTypeT>());
    attribute.name = a.name;
    attribute.type = static_cast<wire::ValueType>(a.type);
  }
  return bytes;
}

/// Reads a list from `first` on until the page is full. `add` says how many bytes it took.
template <class T, class F>
void read_page(std::size_t first, const Read<T>& read, F&& add) {
  constexpr std::size_t kSome = 64;
  for (std::size_t bytes = 0; bytes < kPageBytes;) {
    const auto some = read(first, kSome);
    for (const T& item : some) {
      if (bytes < kPageBytes) bytes += add(item);
    }
    if (some.size() < kSome) return;
    first += kSome;
  }
}

}  // namespace

protocol::Bytes ack(std::uint64_t id) { return protocol::encode(id, wire::AckT()); }

protocol::Bytes error_reply(std::uint64_t id, wire::ErrorCode code, const Error& error) {
  wire::ErrorT reply;
  reply.code = code;
  reply.message = error.message;
  reply.hint = error.hint;
  return protocol::encode(id, reply);
}

protocol::Bytes leaving_notice(std::chrono::milliseconds grace) {
  wire::LeavingT notice;
  notice.grace_ms = static_cast<std::uint32_t>(grace.count());
  return protocol::encode(0, notice);
}

protocol::Bytes diagnostics_reply(std::uint64_t id, const Diagnostics& diagnostics) {
  wire::DiagnosticsT reply;
  reply.list = first_diagnostics(diagnostics);
  return protocol::encode(id, reply);
}

protocol::Bytes reloaded_reply(std::uint64_t id, const std::vector<std::string>& changed,
                               const RuleFiles::Outcome& outcome) {
  wire::ReloadedT reply;
  reply.changed = changed;
  reply.files = static_cast<std::uint32_t>(outcome.files);
  reply.added = outcome.added;
  reply.removed = outcome.removed;
  reply.diagnostics = first_diagnostics(outcome.diagnostics);
  for (const Error& problem : outcome.errors) {
    if (reply.problems.size() >= kMostDiagnostics) break;
    auto told = std::make_unique<wire::ErrorT>();
    told->code = wire::ErrorCode::Invalid;
    told->message = cut(problem.message, kLongestLine);
    told->hint = cut(problem.hint, kLongestLine);
    reply.problems.push_back(std::move(told));
  }
  return protocol::encode(id, reply);
}

protocol::Bytes rules_reply(std::uint64_t id, std::size_t total, std::uint32_t first,
                            const Read<RuleInfo>& read, const Schema& schema) {
  wire::RulesT reply;
  reply.total = static_cast<std::uint32_t>(total);
  read_page(first, read, [&](const RuleInfo& rule) {
    auto& told = *reply.rules.emplace_back(protocol::to_wire(rule, false));
    return size_of(rule) + add_attributes(schema.find(rule.type), told.attributes);
  });
  return protocol::encode(id, reply);
}

protocol::Bytes types_reply(std::uint64_t id, std::size_t total, std::uint32_t first,
                            const Read<TypeInfo>& read, const Schema& schema) {
  wire::TypesT reply;
  reply.total = static_cast<std::uint32_t>(total);
  read_page(first, read, [&](const TypeInfo& type) {
    auto& told = *reply.types.emplace_back(protocol::to_wire(type));
    const EventType* known = schema.find(type.name);
    told.inferred = known != nullptr && !known->strict();
    std::size_t names = 0;
    for (const auto* list : {&type.unread_attributes, &type.missing_attributes}) {
      for (const std::string& name : *list) names += name.size() + 16;
    }
    return type.name.size() + 160 + names + add_attributes(known, told.attributes);
  });
  return protocol::encode(id, reply);
}

protocol::Bytes devices_reply(std::uint64_t id, const std::vector<DeviceInfo>& devices) {
  wire::DevicesT reply;
  for (const DeviceInfo& device : devices) reply.devices.push_back(to_wire(device));
  return protocol::encode(id, reply);
}

protocol::Bytes statistics_reply(std::uint64_t id, const Statistics& statistics,
                                 const Histograms& histograms) {
  wire::StatisticsT reply;
  for (const Statistic& statistic : statistics) {
    auto& told = *reply.list.emplace_back(std::make_unique<wire::StatisticT>());
    told.name = statistic.name;
    told.value = statistic.value;
    told.gauge = statistic.gauge;
    told.label = statistic.label;
    told.label_value = statistic.label_value;
  }
  for (const auto& [name, values] : histograms) {
    auto& histogram = *reply.histograms.emplace_back(std::make_unique<wire::HistogramT>());
    histogram.name = name;
    histogram.sum = values.mean() * static_cast<double>(values.count());
    values.for_each_bucket([&](std::uint64_t greatest, std::uint64_t count) {
      histogram.bounds.push_back(greatest);
      histogram.counts.push_back(count);
    });
  }
  return protocol::encode(id, reply);
}

protocol::Bytes rule_reply(std::uint64_t id, const RuleInfo& rule, const Schema& schema,
                           std::size_t max_frame) {
  wire::RulesT reply;
  reply.total = 1;
  auto& told = *reply.rules.emplace_back(protocol::to_wire(rule, true));
  add_attributes(schema.find(rule.type), told.attributes);
  auto frame = protocol::encode(id, reply);
  if (frame.size() > max_frame) {
    told.plan.clear();
    frame = protocol::encode(id, reply);
  }
  if (frame.size() <= max_frame) return frame;
  return error_reply(id, wire::ErrorCode::TooLarge,
                     {"the text of rule '" + rule.name + "' does not fit in a frame", ""});
}

protocol::Bytes trace_reply(std::uint64_t id, const wire::TracedT& traced, std::size_t max_frame) {
  auto frame = protocol::encode(id, traced);
  if (frame.size() <= max_frame) return frame;
  return error_reply(id, wire::ErrorCode::TooLarge,
                     {"what came of the event does not fit in a frame", "it was published"});
}

}  // namespace gorgo::server

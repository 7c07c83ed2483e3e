#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log_histogram.hpp"
#include "gorgo/device.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"
#include "protocol/framing.hpp"
#include "server/rules/rule_files.hpp"

/// Replies as frames.
namespace gorgo::server {

/// The refusal of what would take memory that there is not.
inline const Error kShortOfMemory{"the server is short of memory", "send it again later"};

protocol::Bytes ack(std::uint64_t id);
protocol::Bytes error_reply(std::uint64_t id, wire::ErrorCode code, const Error& error);
/// Tells a client that the server stops, and how long it is served until then.
protocol::Bytes leaving_notice(std::chrono::milliseconds grace);
/// Replies with no more diagnostics than help anyone, with long lines cut.
protocol::Bytes diagnostics_reply(std::uint64_t id, const Diagnostics& diagnostics);
/// Reads at most `count` items of a list, from number `first` on.
template <class T>
using Read = std::function<std::vector<T>(std::size_t first, std::size_t count)>;
/// Answers a Reload, without the reasons that help nobody any more.
protocol::Bytes reloaded_reply(std::uint64_t id, const std::vector<std::string>& changed,
                               const RuleFiles::Outcome& outcome);
/// Answers a ListRules: rules from `first` on, as many as a frame should carry, without texts.
/// Reads no more than that, some at a time. `schema` has the attributes of their composites.
protocol::Bytes rules_reply(std::uint64_t id, std::size_t total, std::uint32_t first,
                            const Read<RuleInfo>& read, const Schema& schema);
/// Answers a ListTypes as `rules_reply` does a ListRules.
protocol::Bytes types_reply(std::uint64_t id, std::size_t total, std::uint32_t first,
                            const Read<TypeInfo>& read, const Schema& schema);
/// A number about the engine, see wire::Statistic.
struct Statistic {
  const char* name;
  std::uint64_t value = 0;
  bool gauge = false;
  const char* label = "";  ///< what it is one of several for
  std::string_view label_value = "";
};
using Statistics = std::vector<Statistic>;
/// Nanoseconds, by the name of what took them.
using Histograms = std::vector<std::pair<const char*, const LogHistogram&>>;
protocol::Bytes statistics_reply(std::uint64_t id, const Statistics& statistics,
                                 const Histograms& histograms);
protocol::Bytes devices_reply(std::uint64_t id, const std::vector<DeviceInfo>& devices);
/// One rule with its text; an Error when that is larger than `max_frame`.
protocol::Bytes rule_reply(std::uint64_t id, const RuleInfo& rule, const Schema& schema,
                           std::size_t max_frame);

/// Answers a Trace; an Error when the answer is larger than `max_frame`, although the event was
/// published.
protocol::Bytes trace_reply(std::uint64_t id, const wire::TracedT& traced, std::size_t max_frame);
/// Answers an AskWhy; an Error when the answer is larger than `max_frame`.
protocol::Bytes why_reply(std::uint64_t id, const Why& why, std::size_t max_frame);

}  // namespace gorgo::server

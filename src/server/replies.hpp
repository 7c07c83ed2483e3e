#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gorgo/device.hpp"
#include "gorgo/processor.hpp"
#include "protocol/framing.hpp"

/// Replies as frames.
namespace gorgo::server {

/// Refuses what would take memory that there is not.
inline const Error kShortOfMemory{"the server is short of memory", "send it again later"};

protocol::Bytes ack(std::uint64_t id);
protocol::Bytes error_reply(std::uint64_t id, wire::ErrorCode code, const Error& error);
/// At most so many diagnostics as help anyone, with long lines cut.
protocol::Bytes diagnostics_reply(std::uint64_t id, const Diagnostics& diagnostics);
/// At most so many of a list, from number `first` on.
template <class T>
using Read = std::function<std::vector<T>(std::size_t first, std::size_t count)>;
/// Rules from `first` on, as many as a frame should carry, without texts. Reads no more than that,
/// some at a time.
protocol::Bytes rules_reply(std::uint64_t id, std::size_t total, std::uint32_t first,
                            const Read<RuleInfo>& read);
/// The same for types.
protocol::Bytes types_reply(std::uint64_t id, std::size_t total, std::uint32_t first,
                            const Read<TypeInfo>& read);
protocol::Bytes devices_reply(std::uint64_t id, const std::vector<DeviceInfo>& devices);
/// One rule with its text; an Error when that is larger than `max_frame`.
protocol::Bytes rule_reply(std::uint64_t id, const RuleInfo& rule, std::size_t max_frame);

/// An Error when it is larger than `max_frame`: the event was published all the same.
protocol::Bytes trace_reply(std::uint64_t id, const wire::TracedT& traced, std::size_t max_frame);
/// An Error when the answer is larger than `max_frame`.
protocol::Bytes why_reply(std::uint64_t id, const Why& why, std::size_t max_frame);

}  // namespace gorgo::server

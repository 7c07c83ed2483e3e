#pragma once

#include <cstdint>
#include <string>

#include "protocol/framing.hpp"

namespace gorgo::soak {

/// A Publish of one table without timestamps: `columns` bool attributes whose names begin with
/// `prefix`. Without columns its rows take no bytes at all.
protocol::Bytes bool_table(const std::string& type, std::uint32_t rows, std::size_t columns,
                           const std::string& prefix);
/// A Publish of one event with one string attribute.
protocol::Bytes text_event(const std::string& type, std::size_t bytes);
/// A Publish of events without attributes; `ahead`: nanoseconds that their timestamps are ahead
/// of this machine's clock.
protocol::Bytes stamped_events(const std::string& type, std::uint32_t rows, std::int64_t ahead);

protocol::Bytes deploy_frame(std::uint64_t id, const std::string& name, const std::string& text);

}  // namespace gorgo::soak

#pragma once

#include <functional>
#include <string>

#include "protocol/gorgo_generated.h"

namespace gorgo::server::http {

/// A delivered event as text.
struct DeliveredLine {
  std::string id;    ///< its place: "ROOT-ORDINAL"
  std::string line;  ///< the event line, without an end
  std::uint32_t subscription = 0;
};

/// Makes event lines of the rows of a Deliver, in their order. What is handed out is valid during
/// the call.
void for_each_line(const wire::Deliver& deliver,
                   const std::function<void(const DeliveredLine&)>& take);

/// Appends the rows as server-sent events, behind a `gap` when rows before them were lost.
void append_events(std::string& out, const wire::Deliver& deliver);
/// Appends a server-sent event of a kind of its own; `data` is one line.
void append_event(std::string& out, const std::string& kind, const std::string& data);

/// The event line with the place, `{"type":..,"ts":..,"attrs":{..},"id":"ROOT-ORDINAL"}`, and with
/// the subscription unless that is 0.
std::string with_id(const DeliveredLine& delivered);
/// `{"gap":{"lost":N}}`
std::string gap_text(std::uint64_t lost);

}  // namespace gorgo::server::http

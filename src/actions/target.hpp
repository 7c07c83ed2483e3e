#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actions/settings.hpp"
#include "doors/door.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::actions {

/// One action: what is to be done about an event, or about those of a group together.
struct Order {
  std::vector<doors::Departing::Row> rows;  ///< not empty
  /// What no other order of any target has, and every attempt at this one has: `12-1/ops`.
  std::string key;
};

/// The lines of its events, each with its id.
std::string lines_of(const Order& order);
/// The value of the attribute as text; `id` and `type` are those of the event. Empty: it has none.
std::string text_in(const doors::Departing::Row& row, const std::string& attribute);
/// The values of the attributes, each ended by a zero byte: the same text where all of them agree.
std::string texts_in(const doors::Departing::Row& row, const std::vector<std::string>& attributes);
/// The text with the values of the event: `{id}`, `{type}` and `{ATTRIBUTE}`. An attribute that the
/// event does not have is empty.
std::string filled(const std::string& text, const doors::Departing::Row& row);

/// What became of an attempt.
struct Outcome {
  enum class What : std::uint8_t {
    done,
    failed,   ///< another attempt may succeed
    refused,  ///< the other side will never take it
  };
  What what = What::done;
  std::string problem = {};              ///< unless it is done
  std::chrono::milliseconds pause = {};  ///< before the next attempt, as the other side asks
};

/// Where actions are carried out. One thread calls, but for `wake`.
class Target {
 public:
  virtual ~Target() = default;

  /// Tries each of the orders once and says what became of it, in their order. Returns when all
  /// attempts have ended; none takes longer than the settings allow.
  virtual std::vector<Outcome> attempt(std::span<const Order* const> orders) = 0;
  /// Has an `attempt` that waits give up. Any thread.
  virtual void wake() = 0;
};

/// The target that the settings describe. An error where what it needs cannot be read, such as a
/// file with a secret. Precondition: `check` found nothing wrong.
Result<std::unique_ptr<Target>> make_target(const std::string& name, const Settings& settings);

}  // namespace gorgo::actions

#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actions/settings.hpp"
#include "doors/door.hpp"

namespace gorgo::actions {

/// Knows which events are not acted upon because of others that came before. Belongs to the
/// target's thread.
class Inhibitor {
 public:
  explicit Inhibitor(const std::map<std::string, Inhibition>& inhibitions);

  /// Whether the event is inhibited. To be called once for each event, in their order.
  bool takes(const doors::Departing::Row& row);

 private:
  struct Rule {
    Inhibition settings;
    /// By what the events share, when the last one came that inhibits others.
    std::map<std::string, Timestamp> sources = {};
    std::deque<std::pair<Timestamp, std::string>> by_time = {};

    bool takes(const doors::Departing::Row& row);
    void note(std::string shared, Timestamp time);
    void forget_past(Timestamp now);
  };
  std::vector<Rule> rules_;
};

}  // namespace gorgo::actions

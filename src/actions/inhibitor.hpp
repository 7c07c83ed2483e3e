#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actions/settings.hpp"
#include "doors/door.hpp"

namespace gorgo::actions {

/// Knows which events of a target are not acted upon because of others that came before. One thread
/// at a time.
class Inhibitor {
 public:
  explicit Inhibitor(const std::map<std::string, Inhibition>& inhibitions);

  /// Whether any event of the type may inhibit or be inhibited.
  bool is_about(std::string_view type) const;
  /// Whether the event is inhibited. To be called once for each event, in their order.
  bool takes(const doors::Departing::Row& row);

  /// By what the events share, when they came that inhibit others; the oldest first.
  using Sources = std::vector<std::pair<std::string, Timestamp>>;
  struct Saved {
    std::string name;      ///< of the table
    std::string settings;  ///< what it says: sources of another table with this name do not count
    Sources sources;
  };
  std::vector<Saved> saved() const;
  /// Takes over what the tables know that are still the same.
  void restore(const std::vector<Saved>& saved);

 private:
  struct Rule {
    std::string name;
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

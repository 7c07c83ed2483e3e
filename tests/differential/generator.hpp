#pragma once

#include <string>
#include <vector>

#include "gorgo/event.hpp"

namespace gorgo::testing {

/// Random rule files over the types A, B and C (declared) and U (inferred), and streams of their
/// events. Both are drawn through RapidCheck, so that a failing case shrinks; call inside a
/// property.
std::string random_rules();
/// The rules with other types: what reads A or the composite type C0 reads `predicate` instead, and
/// what defines C0 defines `composite`. Precondition: no state of the rules is over several types.
std::string with_types(const std::string& rules, const std::string& predicate,
                       const std::string& composite);
/// Rules whose states are over one type each, and which know no table.
std::string random_plain_rules();
/// Random rules in which what reads the table B is marked, so that the table can be read as such,
/// or as the last events of each key in a window that is longer than any stream.
std::string random_marked_rules();
std::string with_tables(const std::string& rules);
std::string with_windows(const std::string& rules);
/// What to deploy before them: it says what the types are.
std::string type_rules();

/// Random rules among which are reports behind the word PANES, whose aggregates `@panes` can
/// answer.
std::string random_pane_rules();

/// A condition on events of these types, which an event satisfies or not by itself.
std::string random_condition();

/// What happens to the rules while events flow.
struct Change {
  std::size_t before;  ///< the event that it comes before
  std::string text;    ///< to deploy, unless empty
  bool with_history;
  std::string remove;  ///< the rule to remove, unless empty
};
std::vector<Change> random_changes();

/// An event without a type is a tick.
std::vector<Event> random_stream();

}  // namespace gorgo::testing

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/trex/packets.hpp"
#include "protocol/trex/rule_text.hpp"

namespace gorgo::protocol::trex {

/// Writes the parts of a rule packet. The first thing that the language does not have fails it;
/// what it writes from then on is of no use.
class RuleWriter {
 public:
  RuleWriter(const Rule& rule, const TypeNames& names);

  Result<RuleText> write();

 private:
  /// Whose brackets a condition stands in, and so whose attributes have no name before them.
  /// A negative index: nobody's.
  struct Owner {
    Part part;
    std::int32_t index;

    friend auto operator<=>(const Owner&, const Owner&) = default;
  };

  const Rule& rule_;
  const TypeNames& names_;
  std::string problem_;
  std::vector<std::string> notes_;
  std::vector<std::string> states_;                       // what states are called, by number
  std::map<Owner, std::vector<std::string>> restricted_;  // conditions that parameters make

  void name_states();
  void place_parameters();
  void place(const Parameter& parameter);
  /// The state, negation or aggregate whose choice the parameter restricts.
  Owner owner_of(const Parameter& parameter);
  void find_owner(const Tree& tree, Part part, Owner& owner);

  std::string numbers();
  std::string define();
  std::string pattern();
  std::string where();
  std::string consuming();

  std::string predicate(std::int32_t type, const std::vector<Constraint>& constraints, Owner owner);
  std::string state(std::int32_t index);
  std::string selection(Selection selection);
  std::string span(const Span& span);
  std::string within(std::int64_t window, std::int32_t state);
  std::string aggregate(std::int32_t index);

  std::string expression(const Tree& tree, Owner owner);
  std::string reference(const Reference& reference, Owner owner);
  std::string state_name(std::int32_t index);

  /// The text, or nothing after a failure.
  std::string take(Result<std::string> text);
  std::string fail(std::string what);
  bool is_state(std::int32_t index) const;
};

}  // namespace gorgo::protocol::trex

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "gorgo/schema.hpp"

namespace gorgo::dispatch {

/// Says which published events somebody wants, see `ProcessorOptions::hands_out`.
class HandedOut {
 public:
  using Asked = std::function<bool(std::string_view type)>;

  /// Unset: all.
  explicit HandedOut(Asked asked) : asked_(std::move(asked)) {}

  bool has(std::string_view type) const { return !asked_ || asked_(type); }

  /// Forgets what was found, because it may change from here on.
  void begin() {
    for (const TypeId type : asked_about_) known_[type] = Answer::unknown;
    asked_about_.clear();
    by_extras_.clear();
  }
  /// Asks once for each type until the next `begin`. Precondition: a type of the schema.
  bool has(TypeId type, const Schema& schema) {
    if (type < known_.size() && known_[type] != Answer::unknown) {
      return known_[type] == Answer::yes;
    }
    return !asked_ || ask(type, schema);
  }
  /// Asks once for each number until the next `begin`. `extras`: the number of the names that
  /// events of an unknown type have.
  bool has(std::uint32_t extras, std::string_view type) {
    if (extras < by_extras_.size() && by_extras_[extras] != Answer::unknown) {
      return by_extras_[extras] == Answer::yes;
    }
    return !asked_ || ask(extras, type);
  }

 private:
  enum class Answer : std::uint8_t { unknown, yes, no };

  bool ask(TypeId type, const Schema& schema);
  bool ask(std::uint32_t extras, std::string_view type);

  Asked asked_;
  std::vector<Answer> known_;        // by TypeId
  std::vector<TypeId> asked_about_;  // whose answers are known
  std::vector<Answer> by_extras_;
};

}  // namespace gorgo::dispatch

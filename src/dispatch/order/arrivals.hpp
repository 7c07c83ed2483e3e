#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace gorgo::dispatch {

/// What publishers have sent so far, by the names that they use, whether or not rules know them.
/// Publishers choose the names, so only so many are kept.
class Arrivals {
 public:
  static constexpr std::size_t kMostTypes = 10'000;
  static constexpr std::size_t kMostAttributes = 256;  ///< of a type
  static constexpr std::size_t kLongestName = 256;     ///< bytes

  struct Type {
    std::uint64_t accepted = 0;
    std::uint64_t no_value = 0;  ///< attributes that rules name and that accepted events lacked
    std::set<std::string, std::less<>> attributes;  ///< that some event had a column for
  };
  using Types = std::map<std::string, Type, std::less<>>;

  /// Where events of the type are counted, which stays there. Notes that they come with these
  /// attributes. The counts of types beyond the bounds are thrown away.
  Type& note(std::string_view type, std::span<const std::string_view> attributes);
  /// What was counted of a type before. Precondition: nothing of it is counted yet.
  void restore(std::string_view type, Type before);
  const Types& types() const { return types_; }

 private:
  Types types_;
  Type others_;
};

}  // namespace gorgo::dispatch

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::tools {

/// What runs have exercised of rules. A state is exercised when an event filled it, a negation when
/// it excluded something, a filter when it dropped a sequence, and a rule when it gave a composite.
class RuleCoverage {
 public:
  /// Adds what the processor's rules have done so far. `path` says where they were written.
  /// Precondition: the processor has forgotten no event.
  void add(const std::string& path, Processor& processor);

  std::size_t total() const;
  /// One line for each thing that was never exercised, in the order of the rules.
  std::vector<std::string> gaps() const;

 private:
  struct Item {
    std::string what;
    bool exercised = false;
  };
  /// Tells rules apart by where they stand, full name and text, because tests of one file may have
  /// rules of the same names.
  struct Key {
    std::string path, rule, text;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  std::map<Key, std::vector<Item>> rules_;
};

}  // namespace gorgo::tools

#pragma once

#include <string>
#include <vector>

#include "gorgo/result.hpp"
#include "language/language.hpp"

namespace CLI {
class App;
}

namespace gorgo::tools {

/// Values that a command line gives to constants of rule files: `--set limit=45`.
class Settings {
 public:
  /// Gives a command the option. The settings outlive the command.
  void add_option(CLI::App* command);
  bool any() const { return !settings_.empty(); }
  /// Writes the values into the text. Whether they are literals is told when the text is checked.
  void apply(language::Source& source);
  /// Call it when all files are read: an error names a constant that none of them has.
  Result<void> check_used() const;

 private:
  struct Setting {
    std::string name, value;
    bool used = false;
  };
  Result<void> add(const std::string& text);

  std::vector<Setting> settings_;
  std::vector<std::string> known_;  // constants of the texts
};

}  // namespace gorgo::tools

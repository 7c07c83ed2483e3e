#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gorgo::server {

/// The rule files whose rules are in force, as a journal tells it. One thread.
class KnownFiles {
 public:
  struct File {
    std::vector<std::string> rules;
    std::string text;
    bool whole = true;  ///< all rules of the text, and as it has them, are in force
  };

  bool empty() const { return owners_.empty(); }
  /// A text was deployed. `file`: it is that of the rule file `name`.
  void deployed(const std::string& name, const std::string& text,
                const std::vector<std::string>& rules, bool file) {
    for (const std::string& rule : rules) {
      const auto owner = owners_.find(rule);
      if (owner != owners_.end() && !(file && owner->second == name)) leave(owner->second, rule);
      if (owner != owners_.end()) owners_.erase(owner);
      if (file) owners_[rule] = name;
    }
    if (file) files_[name] = {.rules = rules, .text = text};
  }

  /// The file of a rule; empty: it has none.
  std::string file_of(const std::string& rule) const {
    const auto owner = owners_.find(rule);
    return owner == owners_.end() ? std::string() : owner->second;
  }

  void removed(const std::string& rule) {
    const auto owner = owners_.find(rule);
    if (owner == owners_.end()) return;
    leave(owner->second, rule);
    owners_.erase(owner);
  }

  void restore(const std::string& name, File file) {
    for (const std::string& rule : file.rules) owners_[rule] = name;
    files_[name] = std::move(file);
  }

  const std::map<std::string, File>& all() const { return files_; }

 private:
  std::map<std::string, File> files_;                    // by name
  std::unordered_map<std::string, std::string> owners_;  // by rule, the name of its file

  void leave(const std::string& name, const std::string& rule) {
    const auto file = files_.find(name);
    if (file == files_.end()) return;
    // A rule that its file lacks already has left with the text before.
    if (std::erase(file->second.rules, rule) > 0) file->second.whole = false;
    if (file->second.rules.empty() && !file->second.whole) files_.erase(file);
  }
};

}  // namespace gorgo::server

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simulated_file.hpp"

namespace gorgo::journal {

using Content = std::shared_ptr<SimulatedFile>;
/// Names that change together: a name and what it stands for from then on, or nothing.
using NameChange = std::vector<std::pair<std::string, Content>>;
using Names = std::map<std::string, Content>;

inline bool survives_power_failure(Fate fate, Random& random) {
  return fate == Fate::kept || (fate != Fate::lost && random() % 2 == 0);
}

/// A folder of the simulated disk: the names that programs see, those on the disk, and the changes
/// between the two.
class SimulatedFolder {
 public:
  const Names& names() const { return shown_; }

  void change(NameChange change) {
    carry_out(change, shown_);
    changes_.push_back(std::move(change));
  }

  void sync() {
    disk_ = shown_;
    changes_.clear();
  }

  void restart(Fate fate, Random& random) {
    for (const NameChange& change : changes_) {
      if (survives_power_failure(fate, random)) carry_out(change, disk_);
    }
    changes_.clear();
    shown_ = disk_;
  }

  bool durable = false;  ///< the name of the folder itself is on the disk

 private:
  static void carry_out(const NameChange& change, Names& names) {
    for (const auto& [name, content] : change) {
      if (content) {
        names[name] = content;
      } else {
        names.erase(name);
      }
    }
  }

  Names shown_;
  Names disk_;
  std::vector<NameChange> changes_;  ///< since the last sync
};

}  // namespace gorgo::journal

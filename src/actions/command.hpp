#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "actions/settings.hpp"
#include "actions/target.hpp"

namespace gorgo::actions {

/// Runs a program for each order, without a shell: `{area}` in an argument stands for the value of
/// the first event's attribute, and no value can become another argument. The event lines are its
/// standard input, and its environment has the order's key. Exit code 0 means that it is done. When
/// its time is over, the program and all that it has started in its process group are killed.
class Command : public Target {
 public:
  explicit Command(const Settings& settings) : settings_(settings) {}

  std::vector<Outcome> attempt(std::span<const Order* const> orders) override;
  void wake() override { is_woken_ = true; }

 private:
  const Settings settings_;
  std::atomic<bool> is_woken_ = false;

  /// A program that runs.
  struct Running {
    std::size_t order = 0;
    pid_t id = -1;
    int errors = -1;   ///< the end of a pipe, from which its standard error is read
    std::string said;  ///< the beginning of it
    std::chrono::steady_clock::time_point until;
  };

  Result<Running> start(const Order& order) const;
  /// Takes what it has said. Returns whether it has ended or was ended, and then what became of it.
  bool look(Running& running, Outcome& outcome) const;
};

}  // namespace gorgo::actions

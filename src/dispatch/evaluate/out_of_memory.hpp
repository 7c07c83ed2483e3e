#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gorgo::dispatch {

/// An evaluation found no memory. `what` names the rule or the type that needed it, and the remedy.
/// The evaluation ended half-way, so its processor cannot go on.
class OutOfMemory : public std::bad_alloc {
 public:
  OutOfMemory(const char* needed_for, std::string_view name, const char* remedy)
      : what_("no memory to " + std::string(needed_for) + " `" + std::string(name) +
              "`: " + remedy) {}
  const char* what() const noexcept override { return what_.what(); }

 private:
  std::runtime_error what_;  // its copies share the text, so they need no memory
};

/// Runs the action. Throws OutOfMemory when there is no memory for it.
template <class Action>
void with_memory_to(const char* needed_for, const std::string& name, const char* remedy,
                    Action action) {
  try {
    action();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(needed_for, name, remedy);
  }
}

}  // namespace gorgo::dispatch

#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "base/of_this_thread.hpp"

namespace gorgo::functions {

/// Keeps the strings that functions of this thread compute until the scope ends. Scopes nest. A
/// function that gives a string needs one around it, and the string dies with the innermost.
class ComputedTexts {
 public:
  ComputedTexts() : begin_(texts().size()) {}
  ~ComputedTexts() { texts().resize(begin_); }
  ComputedTexts(const ComputedTexts&) = delete;
  ComputedTexts& operator=(const ComputedTexts&) = delete;

  /// The text at its place. Precondition: a scope of this thread is open.
  static std::string_view keep(std::string text) { return texts().emplace_back(std::move(text)); }

 private:
  static std::deque<std::string>& texts() {
    struct Texts {
      std::deque<std::string> all;
    };
    return of_this_thread<Texts>().all;
  }

  std::size_t begin_;
};

}  // namespace gorgo::functions

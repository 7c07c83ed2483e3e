#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"

namespace gorgo::engine {

/// An event of a type whose attributes are `k: int, v: float, s: string`.
struct TestEvent {
  std::string type;
  Timestamp timestamp;
  std::int64_t k;
  double v;
  std::string s;
};

/// Declares the types of test events.
inline constexpr const char* kTypes =
    "event A(k: int, v: float, s: string); event B(k: int, v: float, s: string);"
    "event C(k: int, v: float, s: string);\n";

inline constexpr unsigned kThreads = 3;

/// Rules under one engine, without anything around it: `batches` of events are stored, and after
/// each the rules evaluate its terminators. One line per composite, in order. `threads`: that an
/// engine may use.
std::vector<std::string> evaluation_of(const Engine& engine, const std::string& rules,
                                       const std::vector<std::vector<TestEvent>>& batches,
                                       unsigned threads = kThreads);

}  // namespace gorgo::engine

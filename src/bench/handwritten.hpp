#pragma once

#include <memory>
#include <string>

#include "bench/subject.hpp"
#include "gorgo/value.hpp"

/// Programs written by hand for one rule each, in bench/handwritten: the yardstick of the engines.
/// Each knows its rule, its types and that the stream is sorted, so it can do what no engine may.
namespace gorgo::bench {

/// The base scenario with three states, one aggregate and one parameter. `selection` is "last" or
/// "each"; the window is in nanoseconds.
std::unique_ptr<Subject> handwritten_base(const std::string& selection, Duration window);

/// The heavy rules, see heavy.cpp; limits as their texts have them.
std::unique_ptr<Subject> handwritten_band(double width, Duration window);
std::unique_ptr<Subject> handwritten_distance(double limit, Duration window);
std::unique_ptr<Subject> handwritten_distance8(double limit, Duration window);
std::unique_ptr<Subject> handwritten_halfspace(double limit, Duration window);
std::unique_ptr<Subject> handwritten_inequality(Duration window);

}  // namespace gorgo::bench

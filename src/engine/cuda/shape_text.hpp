#pragma once

#include <cstdint>
#include <string>

#include "cuda/device.hpp"
#include "engine/cuda/program.hpp"

namespace gorgo::engine {

/// A program as the text of a type `Shape` in the namespace gorgo::cuda (cuda/shape.hpp): plain
/// C++, compiled for a device or for the host. It applies the functions that interpret the program
/// to constant instructions, so that both decide the same. Programs that differ in their values
/// alone have the same text. `nullable`: whether events may lack attributes. Empty for programs
/// that are too large.
std::string shape_text(const Program& program, bool nullable);

/// What the device tests scans of the program by, in `cuda::Scan::shape`, as long as all their
/// cells exist.
std::uint32_t shape_of(const Program& program, bool nullable, cuda::Device& device);

}  // namespace gorgo::engine

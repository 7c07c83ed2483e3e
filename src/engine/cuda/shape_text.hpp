#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cuda/device.hpp"
#include "engine/cuda/program.hpp"

namespace gorgo::engine {

struct ShapedProgram {
  const Program* program;
  bool nullable;  ///< whether events may lack attributes
};

/// A program as the text of a type `Shape` in the namespace gorgo::gpu (cuda/shape.hpp): plain
/// C++, compiled for a device or for the host. It applies the functions that interpret the program
/// to constant instructions, so that both decide the same. Programs that differ in their values
/// alone have the same text. It includes the negations that are tested with the program. It is
/// empty for programs that are too large or test nothing.
std::string shape_text(const ShapedProgram& shaped, std::span<const ShapedProgram> negations = {});

/// The number, for `gpu::Scan::shape`, of what the device tests scans of the program by as long as
/// all their cells exist.
std::uint32_t shape_of(const ShapedProgram& shaped, std::span<const ShapedProgram> negations,
                       gpu::Device& device);

}  // namespace gorgo::engine

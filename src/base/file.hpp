#pragma once

#include <cstddef>
#include <string>

#include "gorgo/diagnostics.hpp"

namespace gorgo {

/// Bytes of a text that is read as a whole. A larger file is refused.
inline constexpr std::size_t kMostText = std::size_t{64} << 20;

/// The whole content of a regular file; links to one are followed. Never waits for another process:
/// a pipe, a socket or a device is an error, as is a folder. Errors name the file and say why.
Result<std::string> read_regular_file(const std::string& path, std::size_t most = kMostText);

/// Reads a file of any kind but a folder. Waits for whoever writes into a pipe.
Result<std::string> read_file(const std::string& path, std::size_t most = kMostText);

/// What is left to read in an open file, which stays open. `name` stands for it in errors.
Result<std::string> read_open_file(int file, const std::string& name, std::size_t most = kMostText);

}  // namespace gorgo

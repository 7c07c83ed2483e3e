#pragma once

#include <string>

#include "gorgo/diagnostics.hpp"

namespace gorgo::server {

/// Whether only those may read or change a file with secrets who may: others have no rights to it,
/// and the group may not write.
Result<void> check_secret_file(const std::string& path);

/// Reads a file that holds secrets: a private key, or hashes of passwords. As with OpenSSH, a file
/// whose rights are too wide is refused rather than used: others must have none, and the group must
/// not write. Errors name the file and never quote it.
Result<std::string> read_secret_file(const std::string& path);

}  // namespace gorgo::server

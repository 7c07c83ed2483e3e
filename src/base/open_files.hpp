#pragma once

#include <cstddef>

/// How many files and connections, which count alike, this process may have open at a time.
namespace gorgo {

/// Raises that number as far as the process may by itself: what a shell or a service gives by
/// default is for programs that cannot deal with more.
void raise_open_files();

std::size_t most_open_files();

/// So many are kept free of connections. A journal or a snapshot opens files while the server runs,
/// and nobody who connects may keep it from that.
inline constexpr std::size_t kKeptForFiles = 64;

/// Whether a new connection takes what is kept for files, and is to be closed at once. The system
/// gives the lowest number that is free.
bool is_kept_for_files(int descriptor);

/// What to do where there are too few.
inline constexpr const char* kRaiseOpenFiles =
    "raise how many files the process may have open (ulimit -n, LimitNOFILE of the unit)";

}  // namespace gorgo

#pragma once

#include <cstddef>

// Allocations that fail, of a whole program: it replaces operator new.
namespace gorgo::server {

/// Has the n-th allocation fail while it lives.
class Failing {
 public:
  explicit Failing(long n);
  ~Failing();
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;
  /// Whether it has failed.
  bool failed() const;
};

/// Has allocations of more bytes fail while it lives.
class Limiting {
 public:
  explicit Limiting(std::size_t most);
  ~Limiting();
  Limiting(const Limiting&) = delete;
  Limiting& operator=(const Limiting&) = delete;
};

/// No allocation of this thread fails, or is counted, while it lives.
class Sparing {
 public:
  Sparing();
  ~Sparing();
  Sparing(const Sparing&) = delete;
  Sparing& operator=(const Sparing&) = delete;

 private:
  bool before_;
};

}  // namespace gorgo::server

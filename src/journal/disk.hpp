#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::journal {

using Bytes = std::span<const std::byte>;

/// An open file. Errors name the file and say why. One thread at a time, except that `sync` may run
/// beside the other functions.
class File {
 public:
  virtual ~File() = default;

  /// Writes the beginning of what `parts` are end to end, at `offset`, and returns how many bytes
  /// that was: all of them or fewer, but at least one. After an error it is unknown which of the
  /// bytes were written.
  virtual Result<std::size_t> write(std::uint64_t offset, std::span<const Bytes> parts) = 0;

  /// Reads at most `into.size()` bytes from `offset`, and returns how many. 0 means the end.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) = 0;

  virtual Result<std::uint64_t> size() = 0;

  /// Makes the file `size` bytes long with room on the disk for all of them. New bytes are zero.
  virtual Result<void> allocate(std::uint64_t size) = 0;

  virtual Result<void> truncate(std::uint64_t size) = 0;

  /// Returns when all that was written before the call is on the disk. After an error nothing is
  /// known of it, and a later success says nothing about it either.
  virtual Result<void> sync() = 0;

  /// From here on, what was synced is read from the disk and not from the system's memory, which
  /// after a failed sync may hold what the disk lacks.
  virtual Result<void> forget_cached() = 0;
};

/// Holds a lock until it is destroyed.
class Lock {
 public:
  virtual ~Lock() = default;
};

/// What a journal needs of a file system. A new, renamed, linked or removed name is on the disk
/// when its folder was synced. Paths have their parts divided by '/'. Any thread.
class Disk {
 public:
  virtual ~Disk() = default;

  virtual Result<void> make_folder(const std::string& path) = 0;
  virtual Result<bool> exists(const std::string& path) = 0;
  /// The names of the files in a folder, in order.
  virtual Result<std::vector<std::string>> list(const std::string& folder) = 0;
  virtual Result<void> sync_folder(const std::string& folder) = 0;

  /// A new file; one of that name is an error.
  virtual Result<std::unique_ptr<File>> create(const std::string& path) = 0;
  virtual Result<std::unique_ptr<File>> open_to_read(const std::string& path) = 0;
  virtual Result<std::unique_ptr<File>> open_to_write(const std::string& path) = 0;

  /// Replaces a file that has the name `to`.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& path) = 0;
  /// A second name for a file; a file that has the name `to` is an error. False: files there cannot
  /// have a name in both folders, as these are of two file systems, or of one without links.
  virtual Result<bool> link(const std::string& from, const std::string& to) = 0;

  /// Takes the lock of a folder. Held by another process, or by this one, it is an error at once. A
  /// process that ends gives its locks back. While it is held, a sync of the folder opens nothing,
  /// so it does not fail where the process has as many files open as it may.
  virtual Result<std::unique_ptr<Lock>> lock_folder(const std::string& folder) = 0;
};

/// The file system of this machine.
std::unique_ptr<Disk> make_posix_disk();

/// Writes all of `parts`, in as many calls as it takes.
Result<void> write_all(File& file, std::uint64_t offset, std::span<const Bytes> parts);

/// Fills `into` as far as the file reaches; returns how many bytes that was.
Result<std::size_t> read_all(File& file, std::uint64_t offset, std::span<std::byte> into);

}  // namespace gorgo::journal

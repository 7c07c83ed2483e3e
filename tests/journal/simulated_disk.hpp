#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "journal/disk.hpp"

namespace gorgo::journal {

using Random = std::mt19937_64;

/// What a power failure does to writes and names that were not synced.
enum class Fate : std::uint8_t {
  lost,    ///< the disk has none of them
  kept,    ///< the disk has all of them
  random,  ///< each sector, size and name for itself, as it was at some time since the last sync
  front,   ///< the first sectors of each file are kept; names like `random`
  back,    ///< the last sectors of each file are kept; names like `random`
};

enum class Operation : std::uint8_t {
  write,
  read,
  allocate,
  truncate,
  sync,
  forget,
  make_folder,
  sync_folder,
  create,
  open,
  rename,
  remove,
  link,
  examine,  ///< exists, list, size
  lock,
};

/// A disk in memory that does to a program what real ones do at their worst. Writes reach it in
/// sectors of 512 bytes, and each of them as a whole, but in any order. What was not synced may be
/// there or not after a power failure. Any thread.
class SimulatedDisk final : public Disk {
 public:
  static constexpr std::size_t kSector = 512;

  explicit SimulatedDisk(std::uint64_t seed);
  ~SimulatedDisk() override;

  // The faults.

  /// The power goes off during the n-th operation from here, counted from 1: what the operation
  /// does is not synced, and it and all later ones fail until `restart`.
  void cut_power_at(std::uint64_t nth);
  bool powered() const;
  /// After a power failure, or instead of one. Files and locks that are open are of no use any
  /// more.
  void restart(Fate data, Fate names);
  /// The program is killed and the system goes on: as `restart`, with nothing lost.
  void kill();
  /// The n-th operation of this kind from here fails with `why`. A sync that fails loses a part of
  /// what it should have written, and reads show it all the same until `forget_cached` or a
  /// restart.
  void fail(Operation kind, std::uint64_t nth, const std::string& why = "Input/output error");
  void heal();  ///< nothing fails any more, apart from the power
  /// Files may have so many bytes together.
  void set_capacity(std::uint64_t bytes);
  std::uint64_t used() const;  ///< bytes that all files have together
  /// Each write writes a random number of its bytes.
  void set_short_writes(bool on);
  /// Whether a file can have names in two folders, as on a file system with links.
  void set_links(bool on);
  /// Called in each sync of a file before it does anything, without a lock.
  void before_sync(std::function<void()> hook);

  // Damage of what is on the disk.

  void flip_bit(const std::string& path, std::uint64_t offset, unsigned bit);
  void zero_sector(const std::string& path, std::uint64_t sector);
  /// What was meant for the sector `meant` went to `hit` instead, and `meant` has zeros.
  void misdirect(const std::string& path, std::uint64_t meant, std::uint64_t hit);

  std::uint64_t operations() const;  ///< so many have begun
  std::uint64_t count(Operation kind) const;
  std::string content(const std::string& path) const;  ///< as a read would show it

  Result<void> make_folder(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& folder) override;
  Result<void> sync_folder(const std::string& folder) override;
  Result<std::unique_ptr<File>> create(const std::string& path) override;
  Result<std::unique_ptr<File>> open_to_read(const std::string& path) override;
  Result<std::unique_ptr<File>> open_to_write(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<bool> link(const std::string& from, const std::string& to) override;
  Result<std::unique_ptr<Lock>> lock_folder(const std::string& folder) override;

 private:
  class OpenFile;
  class HeldLock;
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace gorgo::journal

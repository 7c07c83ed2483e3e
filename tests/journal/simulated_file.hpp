#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "simulated_disk.hpp"

namespace gorgo::journal {

/// The content of a file of the simulated disk: what reads show, what is on the disk, and the
/// writes between the two.
class SimulatedFile {
 public:
  std::size_t size() const { return shown_.size(); }
  const std::vector<std::byte>& shown() const { return shown_; }

  std::size_t read(std::uint64_t offset, std::span<std::byte> into) const;
  void write(std::uint64_t offset, Bytes bytes);
  void resize(std::size_t size);

  void sync();
  /// Writes some of what was not synced and forgets the rest, but still shows it.
  void fail_to_sync(Random& random);
  void forget_cached();
  void restart(Fate fate, Random& random);

  /// Changes what is on the disk and what is shown.
  template <class Change>
  void damage(Change change) {
    change(shown_);
    change(disk_);
  }

 private:
  using Sector = std::array<std::byte, SimulatedDisk::kSector>;

  void remember(std::size_t from, std::size_t to);
  static void put(std::vector<std::byte>& image, std::size_t number, const Sector& sector);
  static std::size_t choose(Fate fate, std::size_t versions, bool front, Random& random);

  std::vector<std::byte> shown_;
  std::vector<std::byte> disk_;
  /// What the sectors were since the last sync, one after the other.
  std::map<std::size_t, std::vector<Sector>> sectors_;
  std::vector<std::size_t> sizes_;
};

}  // namespace gorgo::journal

#include "simulated_file.hpp"

#include <algorithm>
#include <cstring>

namespace gorgo::journal {

std::size_t SimulatedFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  if (offset >= shown_.size()) return 0;
  const std::size_t count = std::min<std::size_t>(into.size(), shown_.size() - offset);
  std::memcpy(into.data(), shown_.data() + offset, count);
  return count;
}

void SimulatedFile::write(std::uint64_t offset, Bytes bytes) {
  if (offset + bytes.size() > shown_.size()) {
    shown_.resize(offset + bytes.size());
    sizes_.push_back(shown_.size());
  }
  std::memcpy(shown_.data() + offset, bytes.data(), bytes.size());
  remember(offset, offset + bytes.size());
}

void SimulatedFile::resize(std::size_t size) {
  if (size == shown_.size()) return;
  const std::size_t before = shown_.size();
  shown_.resize(size);
  sizes_.push_back(size);
  // The sectors that lost bytes are zero from there on, should the file grow again.
  if (size < before) remember(size, before);
}

void SimulatedFile::remember(std::size_t from, std::size_t to) {
  if (from == to) return;
  for (std::size_t number = from / SimulatedDisk::kSector;
       number <= (to - 1) / SimulatedDisk::kSector; ++number) {
    Sector sector = {};
    read(number * SimulatedDisk::kSector, sector);
    sectors_[number].push_back(sector);
  }
}

void SimulatedFile::put(std::vector<std::byte>& image, std::size_t number, const Sector& sector) {
  const std::size_t offset = number * SimulatedDisk::kSector;
  if (offset >= image.size()) return;
  std::memcpy(image.data() + offset, sector.data(), std::min(image.size() - offset, sector.size()));
}

void SimulatedFile::sync() {
  if (!sizes_.empty()) disk_.resize(sizes_.back());
  for (const auto& [number, versions] : sectors_) put(disk_, number, versions.back());
  sectors_.clear();
  sizes_.clear();
}

void SimulatedFile::fail_to_sync(Random& random) {
  const std::vector<std::byte> shown = shown_;
  restart(Fate::random, random);
  shown_ = shown;
}

void SimulatedFile::forget_cached() {
  shown_ = disk_;
  if (!sizes_.empty()) shown_.resize(sizes_.back());
  for (const auto& [number, versions] : sectors_) put(shown_, number, versions.back());
}

/// Which of the versions is on the disk; 0 stands for what was there before them.
std::size_t SimulatedFile::choose(Fate fate, std::size_t versions, bool front, Random& random) {
  switch (fate) {
    case Fate::lost:
      return 0;
    case Fate::kept:
      return versions;
    case Fate::random:
      return random() % (versions + 1);
    case Fate::front:
      return front ? versions : 0;
    case Fate::back:
      return front ? 0 : versions;
  }
  return 0;
}

void SimulatedFile::restart(Fate fate, Random& random) {
  const bool by_chance = fate == Fate::front || fate == Fate::back;
  const std::size_t size = choose(by_chance ? Fate::random : fate, sizes_.size(), false, random);
  if (size > 0) {
    // What a shorter size cut off must not come back with a longer one.
    disk_.resize(std::min(
        disk_.size(),
        *std::min_element(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(size))));
    disk_.resize(sizes_[size - 1]);
  }
  const std::size_t boundary = sectors_.empty() ? 0 : random() % (sectors_.size() + 1);
  std::size_t position = 0;
  for (const auto& [number, versions] : sectors_) {
    const auto chosen = choose(fate, versions.size(), position++ < boundary, random);
    if (chosen > 0) put(disk_, number, versions[chosen - 1]);
  }
  shown_ = disk_;
  sectors_.clear();
  sizes_.clear();
}

}  // namespace gorgo::journal

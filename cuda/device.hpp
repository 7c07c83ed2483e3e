#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/layout.hpp"

/// What searches columns for the engine: a GPU, or the CPU in its stead.
namespace gorgo::gpu {

/// The device could not do what it was asked for. Nothing of the round is done; what was written to
/// the arena is lost.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(const std::string& what, bool is_final) : runtime_error(what), final_(is_final) {}
  /// Whether the device is lost for good.
  bool is_final() const { return final_; }

 private:
  bool final_;
};

/// Searches that do not depend on each other, with all that they refer to, as indices into these
/// arrays.
struct Round {
  std::vector<std::uint32_t> pages;
  std::vector<Attribute> attributes;
  std::vector<Test> tests;
  std::vector<Instruction> instructions;
  std::vector<Scan> scans;
  std::vector<Bounds> bounds;
  std::vector<Cell> cells;
  std::vector<std::uint64_t> texts;
  std::vector<NegationSearch> negations;

  std::vector<Search> oldest, newest, every, reductions, sums;
  std::uint32_t selected = 0;  ///< the limits of oldest and newest, added up
  /// How many positions `every` may find; if there are more, only counts are answered.
  std::uint64_t most_listed = 0;
  std::uint64_t fetched = 0;  ///< the last fetch that brings a page of it; 0: none

  bool empty() const {
    return oldest.empty() && newest.empty() && every.empty() && reductions.empty() && sums.empty();
  }
  void clear();
};

/// Offsets are positions less `Search::first`. Valid until the channel's next round.
struct Answers {
  std::span<const std::uint32_t> oldest;    ///< how many were found, by search
  std::span<const std::uint32_t> newest;    ///< how many were found, by search
  std::span<const std::uint32_t> selected;  ///< offsets of both, from `Search::output` on
  /// Where the offsets of each search for every position begin in `listed`, and, last, their
  /// number.
  std::span<const std::uint64_t> every;
  std::span<const std::uint32_t> listed;
  bool listed_all = true;  ///< false: too many, `listed` is empty
  std::span<const Reduction> reductions;
  std::span<const FloatSum> sums;
};

/// A page that comes from memory of the host.
struct Fetch {
  std::uint32_t page;
  const std::uint64_t* from;  ///< pinned, as many words as a page has
};

/// What a device did since it was made.
struct DeviceCounters {
  std::uint64_t rounds = 0;
  std::uint64_t searches = 0;
  std::uint64_t uploaded = 0;  ///< bytes, with rounds
  std::uint64_t fetched = 0;   ///< bytes, beside rounds
};

/// The shapes that a device was told of.
struct ShapeCounters {
  std::uint64_t shapes = 0;
  std::uint64_t compiled = 0, failed = 0;  ///< kernels, so far
  std::uint64_t requested = 0;             ///< kernels that are yet to be compiled
};

/// Rounds of a device, one after the other. Those of its other channels go on at the same time.
///
/// Thread-safety: one user at a time; each channel of a device may have another one.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Begins a round, which stays as it is until `finish`. Throws DeviceError.
  virtual void start(const Round& round) = 0;
  /// Waits for the round that was begun. Throws DeviceError.
  virtual Answers finish() = 0;

  const DeviceCounters& counters() const { return counters_; }

 protected:
  void count(const Round& round);

  DeviceCounters counters_;
};

/// Thread-safety: one user at a time, with no round under way unless something else is said.
class Device {
 public:
  virtual ~Device() = default;

  /// The number by which people call it: a GPU's is its index.
  virtual std::uint32_t number() const = 0;
  virtual std::uint32_t page_shift() const = 0;
  /// Pages of the arena.
  virtual std::uint32_t pages() const = 0;
  /// Writes words into a page. The next round of the first channel sees them; rounds of the others
  /// see them once they are published. Rounds of the others may be under way if they do not refer
  /// to the page. Throws DeviceError.
  virtual void write(std::uint32_t page, std::uint32_t offset,
                     std::span<const std::uint64_t> words) = 0;
  /// Makes what was written visible to rounds of all channels that begin later. Rounds of all
  /// channels but the first may be under way. Throws DeviceError.
  virtual void publish() = 0;
  /// The number of a shape (cuda/shape.hpp), for `Scan::shape`: the text of a type `Shape` in this
  /// namespace. Its kernels may come later; until then those of `fallback` test its scans.
  virtual std::uint32_t add_shape(const std::string& /*text*/, std::uint32_t fallback) {
    return fallback;
  }
  /// Memory of the host to fetch from, for as long as the device lives. Throws DeviceError.
  virtual std::uint64_t* pin(std::size_t words) = 0;
  /// Has pages copied while rounds go on; a round that is under way must not refer to them. What is
  /// copied from stays as it is until then. Returns the number of the call: 1, 2, ... Throws
  /// DeviceError.
  virtual std::uint64_t fetch(std::span<const Fetch> pages) = 0;

  /// At least 1.
  virtual std::uint32_t channels() const = 0;
  /// The channel lives as long as the device.
  virtual Channel& channel(std::uint32_t number) = 0;

  /// What the device did, and its channels with it.
  DeviceCounters counters();
  /// Any thread may call this, at any time.
  virtual ShapeCounters shapes() const { return {}; }

 protected:
  DeviceCounters counters_;
};

/// When kernels for a shape are compiled, where NVRTC is there.
enum class Compile : std::uint8_t { in_background, at_once, never };

/// How much of a device an engine takes, and how.
struct DeviceOptions {
  std::uint64_t bytes = std::uint64_t{1} << 30;
  std::uint32_t page_shift = 13;  ///< log2 of the events of a page
  std::uint32_t channels = 9;     ///< at least 1
  Compile compile = Compile::in_background;
  bool fused_uploads = true;  ///< small rounds are arguments of fused launches
};

/// A GPU of this machine, or why there is none.
struct GpuInfo {
  std::string name;  ///< empty: there is none
  std::string unavailable;
  bool is_missing = false;   ///< this machine or this build has none, which is no fault
  std::uint64_t memory = 0;  ///< bytes
  int multiprocessors = 0;
  int capability = 0;  ///< 90 is 9.0
  int driver = 0;      ///< the CUDA version that the driver supports, 13000 is 13.0; 0: no driver
  int runtime = 0;     ///< the CUDA version of this build; 0: none
};

/// The GPUs of this machine by index, or one entry that says why there is none. Asking takes none
/// into use.
std::vector<GpuInfo> describe_gpus();
/// Takes a GPU into use, by its index. Throws DeviceError.
std::unique_ptr<Device> open_gpu(std::uint32_t index, const DeviceOptions& options);

}  // namespace gorgo::gpu

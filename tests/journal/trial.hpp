#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "journal/journal.hpp"
#include "simulated_disk.hpp"

namespace gorgo::journal {

/// What a program does with its journal.
struct Step {
  enum class What : std::uint8_t {
    append,  ///< a record of so many bytes
    write,
    sync,
    trim,    ///< what is below this part of all records, in percent
    reopen,  ///< closes the journal and opens it again
  };
  What what = What::append;
  std::size_t number = 0;
};

/// A script of forty steps: records of all sizes that matter, several segments, two trims.
std::vector<Step> forty_steps();

/// A journal on a simulated disk, and a model of what it has promised. Whatever contradicts the
/// model is kept as `problem`.
class Trial {
 public:
  static constexpr char kFolder[] = "journal";

  explicit Trial(std::uint64_t seed);

  SimulatedDisk& disk() { return disk_; }
  Journal* journal() { return journal_.get(); }
  const std::string& problem() const { return problem_; }

  /// Opens the journal and compares all that can be read with the model. Where the power goes off
  /// or the disk fails, there is no journal afterwards.
  void open();
  /// Nothing may go wrong in `open`.
  void must_open();
  void perform(const Step& step);
  /// Performs steps until the power is off.
  void perform(const std::vector<Step>& steps);
  /// The power failed, or fails now.
  void restart(Fate data, Fate names);
  void kill();
  /// Faults of the disk other than its power are no excuse any more.
  void expect_no_faults() { faults_ = false; }
  void expect_faults() { faults_ = true; }

 private:
  struct Written {
    std::uint16_t kind = 0;  ///< 0: the journal's own
    std::string payload;
  };

  std::string next_payload(std::size_t size);
  void append(std::size_t size);
  void write();
  void sync();
  void trim(std::size_t percent);
  void close();
  void note_promises();
  void compare();
  void wrong(const std::string& what);
  /// An error must have a reason, and one that ends the journal ends it for good.
  void judge(const char* call, const Error& error);

  SimulatedDisk disk_;
  std::unique_ptr<Journal> journal_;
  std::string problem_;
  bool faults_ = false;
  std::uint64_t serial_ = 0;

  std::map<Place, Written> written_;
  Place durable_ = 1;      ///< what was promised
  Place with_system_ = 1;  ///< what was promised where only the program ends
  Place least_ = 1;        ///< what must be there after the crash
  /// Where the journal ended when it was told that what stands below a place is not needed. A crash
  /// that loses something before that end must not lose what was needed then.
  std::vector<std::pair<Place, Place>> trims_;
};

}  // namespace gorgo::journal

#include "tools/journal_findings.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "journal/reader.hpp"
#include "journal/snapshot.hpp"
#include "journal/survey.hpp"
#include "tools/unreached.hpp"

namespace gorgo::tools {
namespace {

using journal::Place;

/// Looks at the parts one after the other.
class Examination {
 public:
  explicit Examination(const std::string& folder) : folder_(folder) {}

  JournalFindings findings() {
    if (const auto there = disk_->exists(folder_); there && !*there) {
      refuse_nothing();
      return std::move(findings_);
    }
    auto found = journal::survey_beside_writer(*disk_, folder_, journal::Depth::all);
    if (!found) {
      damage_ = found.error();
      found = journal::survey_beside_writer(*disk_, folder_, journal::Depth::tail);
    }
    if (!found) {
      refuse_damage();
      return std::move(findings_);
    }
    survey_ = *std::move(found);
    if (survey_.segments.empty()) {
      refuse_nothing();
      return std::move(findings_);
    }
    look_at_end();
    look_at_snapshots();
    look_at_permissions();
    look_at_room();
    return std::move(findings_);
  }

 private:
  const std::string& folder_;
  const std::unique_ptr<journal::Disk> disk_ = journal::make_posix_disk();
  journal::Survey survey_;
  std::optional<Error> damage_;  // of some record
  JournalFindings findings_;

  void say(std::string sentence) { findings_.sentences.push_back(std::move(sentence)); }
  void refuse(std::string sentence) {
    findings_.can_start = false;
    say(std::move(sentence));
  }

  void refuse_nothing() {
    refuse("There is no journal in " + folder_ + ": name the folder that a server was given.");
  }

  void refuse_damage() {
    const std::string& hint = damage_->hint;
    refuse(damage_->message + ". A server does not start with it" +
           (hint.empty() ? "" : ": " + hint) + ".");
  }

  /// A start reads the records from this place on.
  void look_at_damage(Place from) {
    if (!damage_) return;
    auto reader = journal::View::of(*disk_, folder_, survey_).read(from);
    while (true) {
      const auto record = reader.next();
      if (!record) return refuse_damage();
      if (!*record) break;
    }
    say(damage_->message + ". A server starts all the same, with the snapshot of place " +
        std::to_string(from) +
        ", but nobody can read these records: restore a backup where they matter.");
  }

  void look_at_end() {
    const auto unreached = unreached_beside_writer(*disk_, folder_);
    if (!unreached) return refuse(unreached.error().message + ".");
    if (survey_.torn_bytes > 0 && unreached->empty()) {
      say(std::to_string(survey_.torn_bytes) + " bytes behind the last record, in " +
          survey_.torn_in +
          ", are no record. A crash leaves such bytes, and a server that runs writes there; "
          "without one, the next start cuts them off, and nothing needs to be done.");
    }
    for (const std::string& file : survey_.useless) {
      if (std::ranges::count(*unreached, file) > 0) {
        say_unreached(file);
      } else {
        say("Nothing in " + file + " is of use. The next start removes it.");
      }
    }
  }

  void say_unreached(const std::string& file) {
    const std::string end = std::to_string(survey_.end);
    say("Whole records stand in " + file + ", and those from place " + end +
        " on before them are missing. Where a file was lost, put it back before the next start, "
        "which goes on at place " +
        end +
        " and keeps this one as FILE.unreached. A crash leaves the same when it comes "
        "before the records are durable: then nothing needs to be done.");
  }

  void look_at_snapshots() {
    const auto places = journal::snapshots_in(*disk_, folder_);
    if (!places) return refuse("The snapshots cannot be listed: " + places.error().message + ".");
    std::optional<Place> latest;
    for (const Place place : *places) {
      const auto whole = journal::verify_snapshot(*disk_, folder_, survey_.journal, place);
      const bool fits = place >= survey_.low && place <= survey_.end;
      if (whole && fits && !latest) latest = place;
      if (whole && fits) continue;
      const std::string path = journal::snapshot_path(folder_, place);
      if (place > survey_.end) {
        refuse("The journal ends at place " + std::to_string(survey_.end) + ", but " + path +
               " was made when it had more records, so a server does not start with it: put the "
               "missing segments back; if a backup took their place on purpose, remove the "
               "snapshots that are not from it.");
        continue;
      }
      say((whole ? path + " belongs to no record that the journal has" : whole.error().message) +
          ". A start passes it over and takes an older snapshot, so it takes longer; keep a copy "
          "for whoever looks into the damage, then remove it.");
    }
    if (!latest && survey_.low > 1) {
      refuse("The records before place " + std::to_string(survey_.low) +
             " are gone, and no whole snapshot says what they did, so a server does not start "
             "with this journal: restore it from a backup, or start with a new folder.");
    }
    look_at_damage(latest.value_or(survey_.low));
    look_at_replay(latest.value_or(survey_.low));
  }

  void look_at_replay(Place from) {
    constexpr Place kMany = 1'000'000;
    if (survey_.end - from < kMany) return;
    say("The next start replays " + std::to_string(survey_.end - from) +
        " records. Where that takes too long, lower journal.snapshot_bytes, and see whether the "
        "log says why no snapshot was made.");
  }

  /// A server runs as the owner of the folder, so what others may do says nothing about it.
  void look_at_permissions() {
    if (faccessat(AT_FDCWD, folder_.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
    const int why = errno;
    struct stat status = {};
    if (stat(folder_.c_str(), &status) != 0) return;
    if (why == EACCES && status.st_uid != geteuid()) return;
    refuse("Nothing can be written into " + folder_ + ": " + std::strerror(why) +
           ". A server does not start with this journal: see how its file system is mounted, and "
           "who may write there.");
  }

  void look_at_room() {
    constexpr std::uintmax_t kLittle = std::uintmax_t{1} << 30, kNone = std::uintmax_t{1} << 20;
    std::error_code failed;
    const auto space = std::filesystem::space(folder_, failed);
    if (failed || space.available >= kLittle) return;
    if (space.available < kNone) {
      return refuse("The disk of " + folder_ +
                    " has no room. A start begins a file of journal.segment_bytes, so a server "
                    "does not start with this journal: make room.");
    }
    say("The disk of " + folder_ + " has room for " + std::to_string(space.available >> 20) +
        " MiB more. A server refuses publications when there is none, and does not start where "
        "there is less than journal.segment_bytes: make room, or lower journal.retain_hours.");
  }
};

}  // namespace

JournalFindings findings_about_journal(const std::string& folder) {
  return Examination(folder).findings();
}

}  // namespace gorgo::tools

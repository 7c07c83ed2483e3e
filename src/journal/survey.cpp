#include "journal/survey.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "journal/segment_reader.hpp"

namespace gorgo::journal {
namespace {

constexpr char kRemedy[] =
    "restore the journal from a backup; `gorgo journal verify` tells what else is damaged";

Error damage(const std::string& path, std::uint64_t offset, const std::string& what) {
  return {"the journal is damaged: " + path + ", byte " + std::to_string(offset) + ": " + what,
          kRemedy};
}

std::string record_text(Place place) { return "the record of place " + std::to_string(place); }

/// Goes through the segments of a journal in order, up to where the records end.
class Surveyor {
 public:
  Surveyor(Disk& disk, const std::string& folder, const OpenSegment& open)
      : disk_(disk), folder_(folder), open_(open) {}

  Result<Survey> run(Depth depth);

 private:
  struct Found {
    Place first = 0;
    HeaderState state = HeaderState::torn;
    SegmentHeader header;
  };

  Result<void> read_headers();
  Result<void> check_headers() const;
  std::size_t last_start() const;
  std::size_t segment_of(Place place) const;
  Result<void> read_records(std::size_t from);
  Result<void> read_last_records();
  Result<void> read_all_records();
  Place low_place(Place end) const;
  Result<void> judge_lost_beginning();
  Error lost_beginning(Place low) const;
  Result<void> sort_segments();
  Result<bool> read_segment(std::size_t number);
  Result<void> take(const SegmentReader& reader, const Record& record, std::uint64_t offset);
  Result<void> judge_end(std::size_t number, std::optional<SegmentReader> reader);
  Result<void> check_closed(SegmentReader& reader, Place next);
  Result<void> add_unreached(std::size_t number);
  Result<void> add_rest(SegmentReader& reader);
  Result<SegmentReader> reader_of(std::size_t number);
  std::string path_of(std::size_t number) const {
    return folder_ + '/' + segment_name(found_[number].first);
  }

  Disk& disk_;
  const std::string& folder_;
  const OpenSegment& open_;
  std::vector<Found> found_;
  Survey survey_;
};

Result<void> Surveyor::read_headers() {
  const auto names = disk_.list(folder_);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const auto first = first_of(name);
    if (!first) continue;
    auto file = disk_.open_to_read(folder_ + '/' + name);
    if (!file) return file.error();
    std::array<std::byte, sizeof(SegmentHeader)> bytes;
    const auto got = read_all(**file, 0, bytes);
    if (!got) return got.error();
    Found found{.first = *first};
    found.state = check(Bytes(bytes).first(*got), found.header);
    if (found.state == HeaderState::whole && found.header.first != *first) {
      found.state = HeaderState::damaged;
    }
    found_.push_back(found);
  }
  return {};
}

Result<void> Surveyor::check_headers() const {
  std::optional<std::uint64_t> journal;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (found_[i].state == HeaderState::foreign) {
      return Error{path_of(i) + " has version " + std::to_string(found_[i].header.version) +
                       " of the format, and this program knows version " +
                       std::to_string(kFormatVersion),
                   "use the program that wrote it, or a newer one"};
    }
    if (found_[i].state == HeaderState::damaged) {
      return damage(path_of(i), 0, "this is no header of a segment");
    }
    if (found_[i].state != HeaderState::whole) continue;
    if (journal && *journal != found_[i].header.journal) {
      return damage(path_of(i), 0, "the segment belongs to another journal");
    }
    journal = found_[i].header.journal;
  }
  return {};
}

/// The last segment with a header that does not begin behind `place`; the first if there is none.
std::size_t Surveyor::segment_of(Place place) const {
  std::size_t number = 0;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (found_[i].state == HeaderState::whole && found_[i].first <= place) number = i;
  }
  return number;
}

/// Everything before the segment that is returned was durable.
std::size_t Surveyor::last_start() const {
  Place durable = 0;
  for (const Found& found : found_) {
    if (found.state == HeaderState::whole) durable = std::max(durable, found.header.durable);
  }
  return segment_of(durable);
}

Result<SegmentReader> Surveyor::reader_of(std::size_t number) {
  auto file = open_(path_of(number));
  if (!file) return file.error();
  return SegmentReader::open(std::move(*file), path_of(number), found_[number].first);
}

Result<void> Surveyor::take(const SegmentReader& reader, const Record& record,
                            std::uint64_t offset) {
  if (record.place != survey_.end) {
    return damage(
        reader.path(), offset,
        record_text(record.place) + " stands where " + record_text(survey_.end) + " should stand");
  }
  survey_.durable = std::max(survey_.durable, record.durable);
  ++survey_.end;
  return {};
}

/// True: the records go on in the next segment.
Result<bool> Surveyor::read_segment(std::size_t number) {
  auto reader = reader_of(number);
  if (!reader) return reader.error();
  if (reader->state() != HeaderState::whole) {
    const auto judged = judge_end(number, std::move(*reader));
    if (!judged) return judged.error();
    return false;
  }
  survey_.durable = std::max(survey_.durable, reader->header().durable);
  while (true) {
    const std::uint64_t offset = reader->offset();
    const auto record = reader->next();
    if (!record) return record.error();
    if (!*record) break;
    if (const auto taken = take(*reader, **record, offset); !taken) return taken.error();
  }
  if (survey_.end > found_[number].first) survey_.last_bytes = reader->offset();
  if (number + 1 < found_.size() && found_[number + 1].first <= survey_.end) {
    if (const auto closed = check_closed(*reader, found_[number + 1].first); !closed) {
      return closed.error();
    }
    return true;
  }
  const auto judged = judge_end(number, std::move(*reader));
  if (!judged) return judged.error();
  return false;
}

/// The segment that follows begins at place `next`.
Result<void> Surveyor::check_closed(SegmentReader& reader, Place next) {
  if (next < survey_.end) {
    return damage(reader.path(), reader.offset(),
                  "the next segment begins with place " + std::to_string(next) +
                      ", which stands here already");
  }
  const auto rest = reader.rest();
  if (!rest) return rest.error();
  if (rest->bytes == 0) return {};
  return damage(reader.path(), reader.offset(), "there should be nothing behind the records");
}

Result<void> Surveyor::add_rest(SegmentReader& reader) {
  const auto rest = reader.rest();
  if (!rest) return rest.error();
  if (rest->bytes > 0 && survey_.torn_bytes == 0) survey_.torn_in = reader.path();
  survey_.torn_bytes += rest->bytes;
  survey_.durable = std::max(survey_.durable, rest->durable);
  return {};
}

/// What the segments from `number` on tell, none of which can be reached.
Result<void> Surveyor::add_unreached(std::size_t number) {
  for (; number < found_.size(); ++number) {
    auto reader = reader_of(number);
    if (!reader) return reader.error();
    if (reader->state() != HeaderState::whole) reader->set_journal(survey_.journal);
    if (const auto added = add_rest(*reader); !added) return added.error();
  }
  return {};
}

/// The records end in segment `number`, as far as they can be read. A record that was written
/// later and tells that more was durable proves that something was damaged.
Result<void> Surveyor::judge_end(std::size_t number, std::optional<SegmentReader> reader) {
  const bool torn_header = reader->state() != HeaderState::whole;
  const std::uint64_t offset = torn_header ? 0 : reader->offset();
  const auto gap = torn_header ? SegmentReader::Gap::torn : reader->gap();
  if (!gap) return gap.error();
  if (torn_header) reader->set_journal(survey_.journal);
  if (const auto added = add_rest(*reader); !added) return added.error();
  if (const auto added = add_unreached(number + 1); !added) return added.error();
  if (survey_.durable > survey_.end) {
    return damage(reader->path(), offset,
                  record_text(survey_.end) + " cannot be read, and all up to place " +
                      std::to_string(survey_.durable - 1) + " were durable");
  }
  if (*gap == SegmentReader::Gap::damaged) {
    return damage(reader->path(), offset,
                  record_text(survey_.end) + " cannot be read, although all of it was written");
  }
  return {};
}

Result<void> Surveyor::read_records(std::size_t from) {
  survey_.end = found_[from].first;
  while (true) {
    const auto goes_on = read_segment(from);
    if (!goes_on) return goes_on.error();
    if (!*goes_on) return {};
    ++from;
  }
}

Error Surveyor::lost_beginning(Place low) const {
  return {
      "the journal in " + folder_ + " lacks its beginning: there is no file " + segment_name(low),
      kRemedy};
}

/// The name of the first segment may have been lost, if nothing of it was durable.
Result<void> Surveyor::judge_lost_beginning() {
  if (const auto added = add_unreached(0); !added) return added.error();
  if (survey_.durable > survey_.end) return lost_beginning(survey_.end);
  return {};
}

Result<void> Surveyor::read_last_records() {
  const std::size_t start = last_start();
  survey_.end = low_place(UINT64_MAX);
  if (start == 0 && found_[0].first > survey_.end) return judge_lost_beginning();
  if (const auto read = read_records(start); !read) return read.error();
  if (start == 0 || survey_.end > found_[start].first) return {};
  // The segment is empty: the last record is in the one before.
  survey_ = {.journal = survey_.journal};
  return read_records(start - 1);
}

Result<void> Surveyor::read_all_records() {
  if (const auto read = read_last_records(); !read) return read.error();
  if (survey_.end <= found_.front().first) return {};
  const std::size_t low = segment_of(low_place(survey_.end));
  survey_ = {.journal = survey_.journal};
  return read_records(low);
}

/// What trimming has said last in a segment before place `end`. Files were removed after that
/// segment was durable.
Place Surveyor::low_place(Place end) const {
  Place low = 1;
  for (const Found& found : found_) {
    const bool useful = found.state == HeaderState::whole && found.first < end;
    if (useful) low = std::max(low, found.header.low);
  }
  return low;
}

/// What stands below the low place is not needed, and of the rest all must be there.
Result<void> Surveyor::sort_segments() {
  survey_.low = low_place(survey_.end);
  bool complete = false;
  for (const Found& found : found_) {
    complete |= found.first == survey_.low;
    if (survey_.low <= found.first && found.first < survey_.end) {
      survey_.segments.push_back({found.first, found.header.made});
    } else {
      survey_.useless.push_back(folder_ + '/' + segment_name(found.first));
    }
  }
  if (complete || survey_.segments.empty()) return {};
  return lost_beginning(survey_.low);
}

Result<Survey> Surveyor::run(Depth depth) {
  if (const auto read = read_headers(); !read) return read.error();
  if (const auto checked = check_headers(); !checked) return checked.error();
  for (const Found& found : found_) {
    if (found.state == HeaderState::whole) survey_.journal = found.header.journal;
  }
  if (!found_.empty()) {
    const auto read = depth == Depth::all ? read_all_records() : read_last_records();
    if (!read) return read.error();
  }
  if (const auto sorted = sort_segments(); !sorted) return sorted.error();
  return {std::in_place, std::move(survey_)};
}

}  // namespace

Result<Survey> survey(Disk& disk, const std::string& folder, Depth depth, const OpenSegment& open) {
  return Surveyor(disk, folder, open).run(depth);
}

Result<Survey> survey_beside_writer(Disk& disk, const std::string& folder, Depth depth) {
  const OpenSegment open = [&](const std::string& path) { return disk.open_to_read(path); };
  auto found = survey(disk, folder, depth, open);
  // What is being written may look damaged; what is damaged is so the next time.
  while (!found) {
    auto again = survey(disk, folder, depth, open);
    if (!again && again.error().message == found.error().message) return again;
    found = std::move(again);
  }
  return found;
}

}  // namespace gorgo::journal

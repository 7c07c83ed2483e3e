#include "journal/reader.hpp"

#include <utility>

namespace gorgo::journal {

Reader::Reader(Disk& disk, std::string folder, std::vector<Segment> segments, Place from, Place end)
    : disk_(&disk),
      folder_(std::move(folder)),
      segments_(std::move(segments)),
      from_(from),
      end_(end),
      next_(end) {
  while (following_ + 1 < segments_.size() && segments_[following_ + 1].first <= from_) {
    ++following_;
  }
  if (from < end && !segments_.empty()) next_ = segments_[following_].first;
}

Result<void> Reader::open_segment() {
  const Segment& segment = segments_[following_++];
  const std::string path = segment.path(folder_);
  auto file = disk_->open_to_read(path);
  if (!file) return file.error();
  auto reader = SegmentReader::open(std::move(*file), path, segment.first);
  if (!reader) return reader.error();
  if (reader->state() != HeaderState::whole) {
    return Error{"the journal is damaged: " + path + ", byte 0: this is no header of a segment",
                 "restore the journal from a backup"};
  }
  segment_ = std::move(*reader);
  return {};
}

Result<std::optional<Record>> Reader::next() {
  while (next_ < end_) {
    if (following_ < segments_.size() && segments_[following_].first == next_) {
      if (const auto opened = open_segment(); !opened) return opened.error();
    }
    const std::uint64_t offset = segment_->offset();
    auto record = segment_->next();
    if (!record) return record.error();
    if (!*record || (*record)->place != next_) {
      return Error{"the journal is damaged: " + segment_->path() + ", byte " +
                       std::to_string(offset) + ": the record of place " + std::to_string(next_) +
                       " cannot be read",
                   "restore the journal from a backup"};
    }
    if (next_++ >= from_) return record;
  }
  return std::optional<Record>();
}

}  // namespace gorgo::journal

#include "journal/recovery.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "journal/segment_reader.hpp"
#include "journal/snapshot.hpp"

namespace gorgo::journal {
namespace {

std::string folder_above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// What another process left in the system's memory goes to the disk, and what the disk holds is
/// read: after a failed sync the memory may show what the disk lacks.
Result<std::unique_ptr<File>> open_settled(Disk& disk, const std::string& path) {
  auto file = disk.open_to_write(path);
  if (!file) return file.error();
  if (const auto synced = (*file)->sync(); !synced) return synced.error();
  if (const auto fresh = (*file)->forget_cached(); !fresh) return fresh.error();
  return file;
}

/// A segment that is opened again is never written into, so that a backup may share it.
Result<void> cut(Disk& disk, const std::string& path, std::uint64_t size) {
  const auto file = disk.open_to_write(path);
  if (!file) return file.error();
  const auto before = (*file)->size();
  if (!before) return before.error();
  if (*before == size) return {};
  if (const auto done = (*file)->truncate(size); !done) return done.error();
  return (*file)->sync();
}

Result<void> copy(Disk& disk, const std::string& from, const std::string& to, std::uint64_t size) {
  const auto source = disk.open_to_read(from);
  if (!source) return source.error();
  const auto target = disk.create(to);
  if (!target) return target.error();
  std::vector<std::byte> buffer(std::min<std::uint64_t>(size, std::uint64_t{1} << 20));
  for (std::uint64_t offset = 0; offset < size;) {
    const auto room =
        std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size - offset));
    const auto got = read_all(**source, offset, room);
    if (!got) return got.error();
    if (*got == 0) return Error{from + " became shorter while it was copied", "try again"};
    const std::array<Bytes, 1> parts = {room.first(*got)};
    if (const auto done = write_all(**target, offset, parts); !done) return done.error();
    offset += *got;
  }
  return (*target)->sync();
}

/// Takes up no room where both are on one file system.
Result<void> link_or_copy(Disk& disk, const std::string& from, const std::string& to) {
  const auto linked = disk.link(from, to);
  if (!linked) return linked.error();
  if (*linked) return {};
  const auto file = disk.open_to_read(from);
  if (!file) return file.error();
  const auto size = (*file)->size();
  if (!size) return size.error();
  return copy(disk, from, to, *size);
}

/// What a start from the copy needs besides the segments. A snapshot whose segments are not all in
/// the copy is of no use there.
Result<void> take_snapshots(Disk& disk, const std::string& folder, const std::string& target,
                            const Survey& found) {
  const auto places = snapshots_in(disk, folder);
  if (!places) return places.error();
  bool any = found.low == 1;
  for (const Place place : *places) {
    if (place < found.low || place > found.end) continue;
    const auto taken =
        link_or_copy(disk, snapshot_path(folder, place), snapshot_path(target, place));
    if (!taken) return taken;
    any = true;
  }
  if (any) return {};
  return Error{"the journal was trimmed meanwhile", "try again"};
}

Result<void> copy_segments(Disk& disk, const std::string& folder, const std::string& target,
                           const Survey& found) {
  for (const Segment& segment : found.segments) {
    const std::string from = segment.path(folder), to = segment.path(target);
    if (segment.first == found.segments.back().first) return copy(disk, from, to, found.last_bytes);
    const auto file = disk.open_to_write(from);
    if (!file) return file.error();
    if (const auto synced = (*file)->sync(); !synced) return synced.error();
    if (const auto taken = link_or_copy(disk, from, to); !taken) return taken;
  }
  return {};
}

Result<Survey> copy_all(Disk& disk, const std::string& folder, const std::string& target) {
  auto found = survey_beside_writer(disk, folder, Depth::tail);
  if (!found) return found;
  const auto copied = copy_segments(disk, folder, target, *found);
  if (!copied) return copied.error();
  const auto taken = take_snapshots(disk, folder, target, *found);
  if (!taken) return taken.error();
  if (const auto synced = disk.sync_folder(target); !synced) return synced.error();
  return found;
}

Result<void> empty_folder(Disk& disk, const std::string& folder) {
  const auto names = disk.list(folder);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    if (const auto removed = disk.remove(path); !removed) return removed.error();
  }
  return {};
}

Result<bool> begins_with_record(Disk& disk, const std::string& path, Place first,
                                std::uint64_t journal) {
  auto file = disk.open_to_read(path);
  if (!file) return file.error();
  auto reader = SegmentReader::open(std::move(*file), path, first);
  if (!reader) return reader.error();
  if (reader->state() != HeaderState::whole) reader->set_journal(journal);
  const auto record = reader->next();
  return !record || record->has_value();  // one that is packed in an unknown way is whole
}

/// No name that stands for another file is taken.
Result<void> set_aside(Disk& disk, const std::string& path) {
  std::string aside = path + ".unreached";
  for (int number = 2;; ++number) {
    const auto there = disk.exists(aside);
    if (!there) return there.error();
    if (!*there) return disk.rename(path, aside);
    aside = path + ".unreached-" + std::to_string(number);
  }
}

Result<void> clear_away(Disk& disk, const Survey& found) {
  const auto unreached = unreached_files(disk, found);
  if (!unreached) return unreached.error();
  for (const std::string& path : found.useless) {
    const bool is_unreached = std::ranges::count(*unreached, path) > 0;
    const auto done = is_unreached ? set_aside(disk, path) : disk.remove(path);
    if (!done) return done;
  }
  return {};
}

}  // namespace

Result<void> make_durable_folder(Disk& disk, const std::string& folder) {
  const auto there = disk.exists(folder);
  if (!there) return there.error();
  if (!*there) {
    if (const auto made = disk.make_folder(folder); !made) return made.error();
  }
  // It may have been made just before a crash.
  return disk.sync_folder(folder_above(folder));
}

Result<Survey> recover(Disk& disk, const std::string& folder) {
  auto found = survey(disk, folder, Depth::tail,
                      [&](const std::string& path) { return open_settled(disk, path); });
  if (!found) return found;
  if (const auto none = expect_none_ahead(disk, folder, found->end); !none) return none.error();
  if (!found->segments.empty()) {
    const std::string last = found->segments.back().path(folder);
    if (const auto done = cut(disk, last, found->last_bytes); !done) return done.error();
  }
  if (const auto cleared = clear_away(disk, *found); !cleared) return cleared.error();
  if (const auto synced = disk.sync_folder(folder); !synced) return synced.error();
  return found;
}

Result<std::vector<std::string>> unreached_files(Disk& disk, const Survey& found) {
  std::vector<std::string> files;
  for (const std::string& path : found.useless) {
    const auto first = first_of(path.substr(path.rfind('/') + 1));
    if (!first || *first <= found.end) continue;
    const auto whole = begins_with_record(disk, path, *first, found.journal);
    if (!whole) return whole.error();
    if (*whole) files.push_back(path);
  }
  return files;
}

/// A writer that trims its journal may remove a file while it is copied, and then the copy begins
/// again. What is wrong for another reason is so the next time.
Result<Survey> back_up(Disk& disk, const std::string& folder, const std::string& target) {
  constexpr int kAttempts = 20;
  if (const auto made = make_durable_folder(disk, target); !made) return made.error();
  const auto names = disk.list(target);
  if (!names) return names.error();
  if (!names->empty()) {
    return Error{target + " is there already, and has files", "name a folder that is to be made"};
  }
  Result<Survey> copied = copy_all(disk, folder, target);
  for (int i = 1; !copied && i < kAttempts; ++i) {
    if (const auto emptied = empty_folder(disk, target); !emptied) return emptied.error();
    auto again = copy_all(disk, folder, target);
    const bool is_same = !again && again.error().message == copied.error().message;
    copied = std::move(again);
    if (is_same) break;
  }
  if (!copied) static_cast<void>(empty_folder(disk, target));  // a part of a copy is of no use
  return copied;
}

}  // namespace gorgo::journal

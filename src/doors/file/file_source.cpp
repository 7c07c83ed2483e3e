#include "doors/file/file_source.hpp"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "codec/text.hpp"
#include "doors/hash.hpp"

namespace gorgo::doors {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::chrono::milliseconds kPause{100};  // between two looks at the files
// Whoever writes to a file that was renamed may go on for so long.
constexpr std::chrono::seconds kLinger{5};
constexpr std::size_t kMostFiles = 1000;

Json to_json(const FilePosition& file) {
  return {{"path", file.path},
          {"device", file.identity.device},
          {"inode", file.identity.inode},
          {"offset", file.offset},
          {"head", file.head},
          {"head_bytes", file.head_bytes}};
}

std::vector<FilePosition> files_in(const Position& position) {
  std::vector<FilePosition> files;
  const auto json = Json::parse(position, nullptr, false);
  if (!json.is_array()) return files;
  for (const Json& file : json) {
    files.push_back({.identity = {file.value("device", std::uint64_t{0}),
                                  file.value("inode", std::uint64_t{0})},
                     .path = file.value("path", ""),
                     .offset = file.value("offset", std::uint64_t{0}),
                     .head = file.value("head", std::uint64_t{0}),
                     .head_bytes = file.value("head_bytes", std::uint64_t{0})});
  }
  return files;
}

std::optional<FoundFile> find_file(const std::string& path) {
  struct statx status = {};
  constexpr unsigned kWanted = STATX_BASIC_STATS | STATX_BTIME;
  if (statx(AT_FDCWD, path.c_str(), 0, kWanted, &status) != 0 || !S_ISREG(status.stx_mode)) {
    return std::nullopt;
  }
  const auto time = [](const statx_timestamp& at) { return std::pair(at.tv_sec, at.tv_nsec); };
  return FoundFile{
      .path = path,
      .identity = {makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino},
      .size = status.stx_size,
      .written = {time(status.stx_mtime), time(status.stx_btime)}};
}

std::vector<FoundFile> files_named_now(const std::string& pattern) {
  std::vector<FoundFile> files;
  glob_t names = {};
  if (glob(pattern.c_str(), 0, nullptr, &names) == 0) {
    for (std::size_t i = 0; i < names.gl_pathc; ++i) {
      if (auto file = find_file(names.gl_pathv[i])) files.push_back(std::move(*file));
    }
  }
  globfree(&names);
  return files;
}

/// What was written first stands first. A file that is renamed while names are gathered could be
/// missed, and come behind the one that took its name.
std::vector<FoundFile> files_named(const std::string& pattern) {
  constexpr int kMostTries = 10;
  auto files = files_named_now(pattern);
  for (int i = 0; i < kMostTries; ++i) {
    auto again = files_named_now(pattern);
    const bool same = std::ranges::equal(files, again, [](const FoundFile& a, const FoundFile& b) {
      return a.path == b.path && a.identity == b.identity;
    });
    files = std::move(again);
    if (same) break;
  }
  std::ranges::stable_sort(files, {}, &FoundFile::written);
  return files;
}

}  // namespace

FileSource::FileSource(const Settings& settings, Types types, const Position& position)
    : settings_(settings), types_(std::move(types)) {
  for (FilePosition& file : files_in(position)) {
    const FileIdentity identity = file.identity;
    left_off_.emplace(identity, std::move(file));
  }
  // Files that are new to a door that has read before are read from their beginning.
  has_looked_ = !position.empty();
}

Result<Arrived> FileSource::poll(std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  Arrived arrived;
  while (true) {
    if (Clock::now() >= next_look_) {
      if (auto looked = look(); !looked) return looked.error();
      forget_gone(arrived);
    }
    if (arrived.empty()) read(arrived);  // a batch is of one file
    if (!arrived.empty()) arrived.position = position();
    const bool has_news = tell_problem(arrived) || !arrived.empty();
    if (has_news || Clock::now() >= until) return {std::in_place, std::move(arrived)};
    wait(std::min(until, next_look_));
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_woken_, false)) return {std::in_place, std::move(arrived)};
  }
}

void FileSource::wait(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  woken_.wait_until(lock, until, [this] { return is_woken_; });
}

void FileSource::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  woken_.notify_one();
}

Result<void> FileSource::look() {
  next_look_ = Clock::now() + kPause;
  unopened_.clear();
  const auto found = files_named(settings_.path);
  if (found.size() > kMostFiles) {
    return Error{settings_.path + " names more than " + std::to_string(kMostFiles) + " files",
                 "remove those that were read, or use a narrower pattern"};
  }
  for (const auto& file : files_) {
    const auto is_it = [&](const FoundFile& one) {
      return one.identity == file->position().identity;
    };
    const auto there = std::ranges::find_if(found, is_it);
    if (there != found.end()) {
      file->set_path(there->path);
      file->gone_since.reset();
    } else if (!file->gone_since) {
      file->gone_since = Clock::now();
    }
  }
  if (!left_off_.empty()) find_renamed(found);
  const bool from_end = !has_looked_ && settings_.from == "end";
  for (const FoundFile& file : found) {
    if (from_end) {
      const FilePosition at{
          .identity = file.identity, .path = file.path, .offset = file.size, .head = hash({})};
      left_off_.emplace(file.identity, at);
    }
    if (find(file.path, file.identity)) continue;
    next_look_ = {};  // files behind it would come before the one that is there now
    return {};
  }
  // What could not be opened is tried again.
  std::erase_if(left_off_, [&](const auto& known) {
    return std::ranges::find(found, known.first, &FoundFile::identity) == found.end();
  });
  has_looked_ = true;
  return {};
}

bool FileSource::find(const std::string& path, const FileIdentity& identity) {
  const auto is_it = [&](const auto& file) { return file->position().identity == identity; };
  if (std::ranges::any_of(files_, is_it)) return true;
  FilePosition position{.path = path};
  const auto known = left_off_.find(identity);
  if (known != left_off_.end()) {
    position = known->second;
    position.path = path;
  }
  auto opened = TailedFile::open(position, make_payload_reader(settings_, types_));
  if (!opened) {
    unopened_.emplace(path, opened.error());
    return true;
  }
  if ((*opened)->position().identity != identity) return false;
  if (known != left_off_.end()) left_off_.erase(known);
  files_.push_back(std::move(*opened));
  next_ = 0;  // nothing is written any more to the files before it, if they were renamed for it
  return true;
}

/// What was renamed while nobody looked is read to its end under its new name, if it stays in its
/// folder, and before the files that came after it.
void FileSource::find_renamed(const std::vector<FoundFile>& found) {
  std::set<std::string> folders;
  for (const auto& [identity, file] : left_off_) {
    if (std::ranges::find(found, identity, &FoundFile::identity) != found.end()) continue;
    folders.insert(fs::path(file.path).parent_path().string());
  }
  for (const std::string& folder : folders) {
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, failure)) {
      const auto file = find_file(entry.path().string());
      if (!file || !left_off_.contains(file->identity)) continue;
      if (std::ranges::find(found, file->identity, &FoundFile::identity) == found.end()) {
        find(file->path, file->identity);
      }
    }
  }
}

void FileSource::read(Arrived& arrived) {
  for (std::size_t tried = 0; tried < files_.size(); ++tried) {
    next_ %= files_.size();
    const bool more = read(*files_[next_], arrived);
    if (!more) ++next_;
    if (!arrived.empty()) return;
  }
}

TailedFile::TakeLine FileSource::taker(TailedFile& file, Arrived& arrived) {
  return [&](std::string_view line, std::uint64_t offset) {
    using Outcome = PayloadReader::Outcome;
    if (offset == 0) {
      line = codec::without_byte_order_mark(line);
      if (file.reader().has_header()) {
        take_header(file, line, arrived);
        return Outcome::nothing;
      }
    }
    if (file.refused_header) return Outcome::nothing;
    const auto read = file.reader().read(line, nullptr, arrived.events);
    if (read) return *read;
    // A row of several lines is named by where it begins.
    arrived.dead.push_back({file.position().path + ":" + std::to_string(file.position().offset),
                            read.error().message, file.reader().refused(line)});
    return Outcome::event;
  };
}

void FileSource::take_header(TailedFile& file, std::string_view line, Arrived& arrived) {
  file.refused_header.reset();
  const auto taken = file.reader().header(line);
  if (taken) return;
  const std::string& path = file.position().path;
  file.refused_header = Error{path + ": " + taken.error().message, taken.error().hint};
  arrived.dead.push_back({path + ":0", taken.error().message, line});
}

/// A file that has lost its name is nobody's problem, because it cannot be mended any more.
std::optional<Error> FileSource::problem() const {
  std::vector<const Error*> all;
  for (const auto& file : files_) {
    if (file->gone_since) continue;
    const auto& why = file->failure ? file->failure : file->refused_header;
    if (why) all.push_back(&*why);
  }
  for (const auto& [path, why] : unopened_) all.push_back(&why);
  if (all.empty()) return std::nullopt;
  Error first = *all.front();
  if (all.size() > 1) {
    first.message =
        std::to_string(all.size()) + " files are not read, one of them " + first.message;
  }
  return first;
}

bool FileSource::tell_problem(Arrived& arrived) {
  arrived.problem = problem();
  std::string text = arrived.problem ? arrived.problem->to_string() : "";
  return std::exchange(told_, text) != text;
}

bool FileSource::read(TailedFile& file, Arrived& arrived) {
  const auto is_full = [&] { return arrived.full(); };
  file.reader().begin_batch();
  const auto read = file.read(taker(file, arrived), is_full);
  file.failure.reset();
  if (!read) file.failure = read.error();
  return read && *read == TailedFile::Read::more;
}

void FileSource::forget_gone(Arrived& arrived) {
  const auto is_over = [&](const std::unique_ptr<TailedFile>& file) {
    if (!file->gone_since || Clock::now() < *file->gone_since + kLinger || !arrived.empty()) {
      return false;
    }
    if (read(*file, arrived) || !arrived.empty()) return false;
    file->take_rest(taker(*file, arrived));
    return true;
  };
  if (std::erase_if(files_, is_over) > 0) next_ = 0;
}

Position FileSource::position() {
  Json json = Json::array();
  for (const auto& [identity, file] : left_off_) json.push_back(to_json(file));
  for (const auto& file : files_) json.push_back(to_json(file->position()));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string FileSource::describe(const Position& position) const {
  std::string text;
  for (const FilePosition& file : files_in(position)) {
    text += (text.empty() ? "" : ", ") + file.path + ":" + std::to_string(file.offset);
  }
  return text;
}

}  // namespace gorgo::doors

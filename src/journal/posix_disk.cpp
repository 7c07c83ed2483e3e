#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/open_files.hpp"
#include "journal/disk.hpp"

namespace gorgo::journal {
namespace {

Error failed_to(const char* what, const std::string& path, int code) {
  Error error{std::string("cannot ") + what + ' ' + path + ": " + std::strerror(code), ""};
  if (code == ENOSPC || code == EDQUOT) error.hint = "make room on that disk";
  if (code == EMFILE || code == ENFILE) error.hint = kRaiseOpenFiles;
  if (code == EFBIG) error.hint = "raise the limit on the size of files, see ulimit -f";
  if (code == EACCES || code == EPERM || code == EROFS) error.hint = "check who may write there";
  return error;
}

/// Calls again while a signal interrupts the call.
template <class Call>
auto uninterrupted(Call call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;

  int get() const { return number_; }

 private:
  int number_;
};

class PosixFile final : public File {
 public:
  PosixFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<std::size_t> write(std::uint64_t offset, std::span<const Bytes> parts) override {
    std::array<iovec, 8> vectors;
    std::size_t count = 0;
    for (const Bytes part : parts) {
      if (part.empty()) continue;
      if (count == vectors.size()) break;
      vectors[count++] = {const_cast<std::byte*>(part.data()), part.size()};
    }
    const auto written = uninterrupted([&] {
      return pwritev(file_.get(), vectors.data(), static_cast<int>(count),
                     static_cast<off_t>(offset));
    });
    if (written < 0) return failed_to("write", path_, errno);
    if (written == 0 && count != 0) return failed_to("write", path_, ENOSPC);
    return static_cast<std::size_t>(written);
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    const auto got = uninterrupted(
        [&] { return pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset)); });
    if (got < 0) return failed_to("read", path_, errno);
    return static_cast<std::size_t>(got);
  }

  Result<std::uint64_t> size() override {
    struct stat status = {};
    if (fstat(file_.get(), &status) != 0) return failed_to("examine", path_, errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  Result<void> allocate(std::uint64_t size) override {
    int code = EINTR;
    while (code == EINTR) code = posix_fallocate(file_.get(), 0, static_cast<off_t>(size));
    if (code != 0) return failed_to("make room for", path_, code);
    return {};
  }

  Result<void> truncate(std::uint64_t size) override {
    const auto done =
        uninterrupted([&] { return ftruncate(file_.get(), static_cast<off_t>(size)); });
    if (done != 0) return failed_to("shorten", path_, errno);
    return {};
  }

  /// A sync that failed is never repeated: the system may have dropped the pages.
  Result<void> sync() override {
    if (fdatasync(file_.get()) != 0) return failed_to("sync", path_, errno);
    return {};
  }

  Result<void> forget_cached() override {
    if (const int code = posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED); code != 0) {
      return failed_to("read from the disk", path_, code);
    }
    return {};
  }

 private:
  const Descriptor file_;
  const std::string path_;
};

/// The lock of the folder stays when somebody removes the file, which looks as if a crash had left
/// it. The file is for file systems that lock no folders, such as NFS, and for programs that know
/// only it.
class PosixLock final : public Lock {
 public:
  PosixLock(Descriptor file, std::shared_ptr<const Descriptor> folder)
      : file_(std::move(file)), folder_(std::move(folder)) {}

 private:
  const Descriptor file_;
  const std::shared_ptr<const Descriptor> folder_;
};

Descriptor open_file(const std::string& path, int flags) {
  return Descriptor(uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0640); }));
}

Result<std::unique_ptr<File>> open_as(const std::string& path, int flags, const char* what) {
  Descriptor file = open_file(path, flags);
  if (file.get() < 0) return failed_to(what, path, errno);
  return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(file), path));
}

class PosixDisk final : public Disk {
 public:
  Result<void> make_folder(const std::string& path) override {
    if (mkdir(path.c_str(), 0750) != 0) return failed_to("make the folder", path, errno);
    return {};
  }

  Result<bool> exists(const std::string& path) override {
    struct stat status = {};
    if (stat(path.c_str(), &status) == 0) return true;
    if (errno != ENOENT) return failed_to("examine", path, errno);
    return false;
  }

  Result<std::vector<std::string>> list(const std::string& folder) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
    if (!open) return failed_to("list", folder, errno);
    std::vector<std::string> names;
    while (true) {
      errno = 0;
      const dirent* entry = readdir(open.get());
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    if (errno != 0) return failed_to("list", folder, errno);
    std::ranges::sort(names);
    return {std::in_place, std::move(names)};
  }

  Result<void> sync_folder(const std::string& folder) override {
    auto open = locked(folder);
    if (!open) open = open_folder(folder);
    if (open->get() < 0) return failed_to("open", folder, errno);
    if (fsync(open->get()) != 0) return failed_to("sync", folder, errno);
    return {};
  }

  Result<std::unique_ptr<File>> create(const std::string& path) override {
    return open_as(path, O_RDWR | O_CREAT | O_EXCL, "create");
  }
  Result<std::unique_ptr<File>> open_to_read(const std::string& path) override {
    return open_as(path, O_RDONLY, "open");
  }
  Result<std::unique_ptr<File>> open_to_write(const std::string& path) override {
    return open_as(path, O_RDWR, "open");
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (std::rename(from.c_str(), to.c_str()) != 0) return failed_to("rename", from, errno);
    return {};
  }
  Result<void> remove(const std::string& path) override {
    if (unlink(path.c_str()) != 0) return failed_to("remove", path, errno);
    return {};
  }
  Result<bool> link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0) return true;
    // What a file system without links says depends on the file system.
    constexpr std::array kCannot = {EXDEV, EPERM, EOPNOTSUPP, ENOSYS, EMLINK};
    if (std::ranges::find(kCannot, errno) != kCannot.end()) return false;
    return failed_to("link", from + " to " + to, errno);
  }

  Result<std::unique_ptr<Lock>> lock_folder(const std::string& folder) override {
    const std::string path = folder + "/lock";
    Descriptor file = open_file(path, O_RDWR | O_CREAT);
    if (file.get() < 0) return failed_to("open", path, errno);
    if (take_lock(file) != 0) {
      if (errno != EWOULDBLOCK) return failed_to("lock", path, errno);
      return is_locked(folder);
    }
    auto whole = open_folder(folder);
    if (whole->get() < 0) return failed_to("open", folder, errno);
    // Where folders cannot be locked, the file alone has to do.
    if (take_lock(*whole) != 0 && errno == EWOULDBLOCK) return is_locked(folder);
    const std::lock_guard lock(mutex_);
    locked_[folder] = whole;
    return std::unique_ptr<Lock>(std::make_unique<PosixLock>(std::move(file), std::move(whole)));
  }

 private:
  static int take_lock(const Descriptor& file) {
    return uninterrupted([&] { return flock(file.get(), LOCK_EX | LOCK_NB); });
  }
  static Error is_locked(const std::string& folder) {
    return {folder + " is locked by another process", "only one server can use a journal"};
  }

  std::mutex mutex_;
  // By path; a lock that is given back closes its folder.
  std::map<std::string, std::weak_ptr<const Descriptor>> locked_;

  static std::shared_ptr<const Descriptor> open_folder(const std::string& folder) {
    return std::make_shared<const Descriptor>(open_file(folder, O_RDONLY | O_DIRECTORY));
  }
  std::shared_ptr<const Descriptor> locked(const std::string& folder) {
    const std::lock_guard lock(mutex_);
    const auto found = locked_.find(folder);
    return found == locked_.end() ? nullptr : found->second.lock();
  }
};

}  // namespace

std::unique_ptr<Disk> make_posix_disk() { return std::make_unique<PosixDisk>(); }

}  // namespace gorgo::journal

// A library that is put before the C library of a server and has one of its system calls fail. The
// file that GORGO_FAULT names says which: "CALL COUNT ERROR": the call, how many succeed before,
// and the number of the error. From then on every such call fails. The first one adds a byte to a
// file of the same name with ".hit" behind it.

#include <dlfcn.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

class Fault {
 public:
  Fault() {
    const char* path = std::getenv("GORGO_FAULT");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "r");
    if (file == nullptr) return;
    long count = 0;
    if (std::fscanf(file, "%31s %ld %d", call_, &count, &error_) == 3) left_ = count;
    std::fclose(file);
    std::snprintf(hit_, sizeof hit_, "%s.hit", path);
  }
  /// Whether this call is to fail; then errno says why.
  bool hits(const char* call) {
    if (std::strcmp(call, call_) != 0) return false;
    const long left = left_.fetch_sub(1);
    if (left > 0) return false;
    if (left == 0) note();
    errno = error_;
    return true;
  }

 private:
  char call_[32] = {}, hit_[4096] = {};
  int error_ = 0;
  std::atomic<long> left_ = 0;

  void note() {
    std::FILE* file = std::fopen(hit_, "a");
    if (file == nullptr) return;
    std::fputc('x', file);
    std::fclose(file);
  }
};

bool fails(const char* call) {
  static Fault fault;
  return fault.hits(call);
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int fdatasync(int file) {
  static const auto call = real<int (*)(int)>("fdatasync");
  return fails("fdatasync") ? -1 : call(file);
}
int fsync(int file) {
  static const auto call = real<int (*)(int)>("fsync");
  return fails("fsync") ? -1 : call(file);
}
ssize_t pwritev(int file, const iovec* parts, int count, off_t offset) {
  static const auto call = real<ssize_t (*)(int, const iovec*, int, off_t)>("pwritev");
  return fails("pwritev") ? -1 : call(file, parts, count, offset);
}
int posix_fallocate(int file, off_t offset, off_t size) {
  static const auto call = real<int (*)(int, off_t, off_t)>("posix_fallocate");
  return fails("posix_fallocate") ? errno : call(file, offset, size);
}

}  // extern "C"

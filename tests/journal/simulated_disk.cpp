#include "simulated_disk.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "simulated_folder.hpp"

namespace gorgo::journal {
namespace {

std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

struct SimulatedDisk::State {
  explicit State(std::uint64_t seed) : random(seed) { folders[""].durable = true; }

  /// Every operation begins here. An error: it fails, and must not do anything.
  Result<void> begin(Operation kind, const std::string& path);
  /// Whether the operation that has begun is the one during which the power goes off.
  bool ends_now() const { return operations == cut_at; }
  Error power_failure(const std::string& path) const { return {path + ": the power is off", ""}; }
  /// What an operation returns that has done its work: an error if the power went off meanwhile.
  Result<void> finished(const std::string& path) const {
    if (ends_now()) return power_failure(path);
    return {};
  }

  Result<SimulatedFolder*> folder_of(const std::string& path);
  Result<Content> find(const std::string& path);
  Result<void> change(const std::string& folder, NameChange change);
  std::uint64_t used() const;
  void end_program();

  mutable std::mutex mutex;
  Random random;
  std::map<std::string, SimulatedFolder> folders;
  std::set<std::string> locks;
  std::uint64_t generation = 0;  ///< of the program that uses the disk
  std::uint64_t operations = 0;
  std::uint64_t cut_at = 0;
  std::map<Operation, std::uint64_t> counts;
  std::map<Operation, std::pair<std::uint64_t, std::string>> failures;  ///< at this count
  std::uint64_t capacity = UINT64_MAX;
  bool short_writes = false;
  bool links = true;
  std::function<void()> hook;
};

Result<void> SimulatedDisk::State::begin(Operation kind, const std::string& path) {
  if (cut_at != 0 && operations >= cut_at) return power_failure(path);
  ++operations;
  ++counts[kind];
  const auto failure = failures.find(kind);
  if (failure != failures.end() && failure->second.first == counts[kind]) {
    return Error{path + ": " + failure->second.second, ""};
  }
  return {};
}

Result<SimulatedFolder*> SimulatedDisk::State::folder_of(const std::string& path) {
  const auto it = folders.find(path);
  if (it == folders.end()) return Error{path + ": no such folder", ""};
  return &it->second;
}

Result<Content> SimulatedDisk::State::find(const std::string& path) {
  const auto [folder, name] = split(path);
  const auto in = folder_of(folder);
  if (!in) return in.error();
  const auto it = (*in)->names().find(name);
  if (it == (*in)->names().end()) return Error{path + ": No such file or directory", ""};
  return it->second;
}

Result<void> SimulatedDisk::State::change(const std::string& folder, NameChange change) {
  const auto in = folder_of(folder);
  if (!in) return in.error();
  (*in)->change(std::move(change));
  return finished(folder);
}

std::uint64_t SimulatedDisk::State::used() const {
  std::set<const SimulatedFile*> files;
  std::uint64_t bytes = 0;
  for (const auto& [path, folder] : folders) {
    for (const auto& [name, content] : folder.names()) {
      if (files.insert(content.get()).second) bytes += content->size();
    }
  }
  return bytes;
}

void SimulatedDisk::State::end_program() {
  ++generation;
  locks.clear();
  cut_at = 0;
}

class SimulatedDisk::OpenFile final : public File {
 public:
  OpenFile(std::shared_ptr<State> state, Content content, std::string path)
      : state_(std::move(state)),
        content_(std::move(content)),
        path_(std::move(path)),
        generation_(state_->generation) {}

  Result<std::size_t> write(std::uint64_t offset, std::span<const Bytes> parts) override {
    const std::lock_guard lock(state_->mutex);
    if (const auto begun = begin(Operation::write); !begun) return begun.error();
    std::vector<std::byte> bytes;
    for (const Bytes part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
    if (state_->short_writes && bytes.size() > 1) bytes.resize(1 + state_->random() % bytes.size());
    const std::uint64_t end = std::max<std::uint64_t>(content_->size(), offset + bytes.size());
    if (const auto room = make_room(end); !room) return room.error();
    content_->write(offset, bytes);
    if (state_->ends_now()) return state_->power_failure(path_);
    return bytes.size();
  }

  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    const std::lock_guard lock(state_->mutex);
    if (const auto begun = begin(Operation::read); !begun) return begun.error();
    return content_->read(offset, into);
  }

  Result<std::uint64_t> size() override {
    const std::lock_guard lock(state_->mutex);
    if (const auto begun = begin(Operation::examine); !begun) return begun.error();
    return std::uint64_t{content_->size()};
  }

  Result<void> allocate(std::uint64_t size) override {
    const std::lock_guard lock(state_->mutex);
    if (const auto begun = begin(Operation::allocate); !begun) return begun.error();
    if (const auto room = make_room(size); !room) return room.error();
    if (size > content_->size()) content_->resize(size);
    return state_->finished(path_);
  }

  Result<void> truncate(std::uint64_t size) override {
    const std::lock_guard lock(state_->mutex);
    if (const auto begun = begin(Operation::truncate); !begun) return begun.error();
    content_->resize(size);
    return state_->finished(path_);
  }

  Result<void> sync() override {
    std::function<void()> hook;
    {
      const std::lock_guard lock(state_->mutex);
      hook = state_->hook;
    }
    if (hook) hook();
    const std::lock_guard lock(state_->mutex);
    if (const auto begun = begin(Operation::sync); !begun) {
      if (state_->cut_at == 0 || state_->operations < state_->cut_at) {
        content_->fail_to_sync(state_->random);
      }
      return begun.error();
    }
    if (state_->ends_now()) return state_->power_failure(path_);
    content_->sync();
    return {};
  }

  Result<void> forget_cached() override {
    const std::lock_guard lock(state_->mutex);
    if (const auto begun = begin(Operation::forget); !begun) return begun.error();
    content_->forget_cached();
    return {};
  }

 private:
  Result<void> begin(Operation kind) {
    if (generation_ != state_->generation) return Error{path_ + ": opened before a restart", ""};
    return state_->begin(kind, path_);
  }

  Result<void> make_room(std::uint64_t size) {
    if (size <= content_->size()) return {};
    if (state_->used() - content_->size() + size <= state_->capacity) return {};
    return Error{path_ + ": No space left on device", "make room on that disk"};
  }

  std::shared_ptr<State> state_;
  Content content_;
  std::string path_;
  std::uint64_t generation_;
};

class SimulatedDisk::HeldLock final : public Lock {
 public:
  HeldLock(std::shared_ptr<State> state, std::string path)
      : state_(std::move(state)), path_(std::move(path)), generation_(state_->generation) {}
  ~HeldLock() override {
    const std::lock_guard lock(state_->mutex);
    if (generation_ == state_->generation) state_->locks.erase(path_);
  }

 private:
  std::shared_ptr<State> state_;
  std::string path_;
  std::uint64_t generation_;
};

SimulatedDisk::SimulatedDisk(std::uint64_t seed) : state_(std::make_shared<State>(seed)) {}
SimulatedDisk::~SimulatedDisk() = default;

void SimulatedDisk::cut_power_at(std::uint64_t nth) {
  const std::lock_guard lock(state_->mutex);
  state_->cut_at = state_->operations + nth;
}

bool SimulatedDisk::powered() const {
  const std::lock_guard lock(state_->mutex);
  return state_->cut_at == 0 || state_->operations < state_->cut_at;
}

void SimulatedDisk::restart(Fate data, Fate names) {
  const std::lock_guard lock(state_->mutex);
  Random& random = state_->random;
  state_->end_program();
  for (auto it = state_->folders.begin(); it != state_->folders.end();) {
    SimulatedFolder& folder = it->second;
    folder.durable = folder.durable || survives_power_failure(names, random);
    if (!folder.durable) {
      it = state_->folders.erase(it);
      continue;
    }
    folder.restart(names, random);
    ++it;
  }
  // Not in the order of addresses, so that a seed gives the same run again.
  std::set<SimulatedFile*> done;
  for (auto& [path, folder] : state_->folders) {
    for (auto& [name, content] : folder.names()) {
      if (done.insert(content.get()).second) content->restart(data, random);
    }
  }
}

void SimulatedDisk::kill() {
  const std::lock_guard lock(state_->mutex);
  state_->end_program();
}

void SimulatedDisk::fail(Operation kind, std::uint64_t nth, const std::string& why) {
  const std::lock_guard lock(state_->mutex);
  state_->failures[kind] = {state_->counts[kind] + nth, why};
}

void SimulatedDisk::heal() {
  const std::lock_guard lock(state_->mutex);
  state_->failures.clear();
  state_->capacity = UINT64_MAX;
  state_->short_writes = false;
}

void SimulatedDisk::set_capacity(std::uint64_t bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->capacity = bytes;
}

std::uint64_t SimulatedDisk::used() const {
  const std::lock_guard lock(state_->mutex);
  return state_->used();
}

void SimulatedDisk::set_short_writes(bool on) { state_->short_writes = on; }

void SimulatedDisk::set_links(bool on) { state_->links = on; }

void SimulatedDisk::before_sync(std::function<void()> hook) {
  const std::lock_guard lock(state_->mutex);
  state_->hook = std::move(hook);
}

void SimulatedDisk::flip_bit(const std::string& path, std::uint64_t offset, unsigned bit) {
  (*state_->find(path))->damage([&](std::vector<std::byte>& image) {
    if (offset < image.size()) image[offset] ^= std::byte{1} << bit;
  });
}

void SimulatedDisk::zero_sector(const std::string& path, std::uint64_t sector) {
  (*state_->find(path))->damage([&](std::vector<std::byte>& image) {
    const auto from = std::min<std::size_t>(sector * kSector, image.size());
    std::fill_n(image.begin() + static_cast<std::ptrdiff_t>(from),
                std::min(kSector, image.size() - from), std::byte{0});
  });
}

void SimulatedDisk::misdirect(const std::string& path, std::uint64_t meant, std::uint64_t hit) {
  (*state_->find(path))->damage([&](std::vector<std::byte>& image) {
    if (image.size() < (std::max(meant, hit) + 1) * kSector) return;
    const auto from = image.begin() + static_cast<std::ptrdiff_t>(meant * kSector);
    const auto to = image.begin() + static_cast<std::ptrdiff_t>(hit * kSector);
    std::copy_n(from, kSector, to);
    std::fill_n(from, kSector, std::byte{0});
  });
}

std::uint64_t SimulatedDisk::operations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->operations;
}

std::uint64_t SimulatedDisk::count(Operation kind) const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts[kind];
}

std::string SimulatedDisk::content(const std::string& path) const {
  const std::lock_guard lock(state_->mutex);
  const auto& bytes = (*state_->find(path))->shown();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<void> SimulatedDisk::make_folder(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::make_folder, path); !begun) return begun.error();
  if (!state_->folders.contains(split(path).first)) return Error{path + ": no such folder", ""};
  if (!state_->folders.try_emplace(path).second) return Error{path + ": File exists", ""};
  return state_->finished(path);
}

Result<bool> SimulatedDisk::exists(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::examine, path); !begun) return begun.error();
  return state_->folders.contains(path) || state_->find(path).has_value();
}

Result<std::vector<std::string>> SimulatedDisk::list(const std::string& folder) {
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::examine, folder); !begun) return begun.error();
  const auto in = state_->folder_of(folder);
  if (!in) return in.error();
  std::vector<std::string> names;
  for (const auto& [name, content] : (*in)->names()) names.push_back(name);
  return {std::in_place, std::move(names)};
}

Result<void> SimulatedDisk::sync_folder(const std::string& path) {
  const std::string folder = path == "." ? "" : path;
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::sync_folder, folder); !begun) {
    return begun.error();
  }
  const auto in = state_->folder_of(folder);
  if (!in) return in.error();
  if (state_->ends_now()) return state_->power_failure(folder);
  (*in)->sync();
  for (auto& [name, below] : state_->folders) {
    if (split(name).first == folder) below.durable = true;
  }
  return {};
}

Result<std::unique_ptr<File>> SimulatedDisk::create(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::create, path); !begun) return begun.error();
  if (state_->find(path)) return Error{path + ": File exists", ""};
  const auto [folder, name] = split(path);
  auto content = std::make_shared<SimulatedFile>();
  if (const auto done = state_->change(folder, {{name, content}}); !done) return done.error();
  return std::unique_ptr<File>(std::make_unique<OpenFile>(state_, std::move(content), path));
}

Result<std::unique_ptr<File>> SimulatedDisk::open_to_read(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::open, path); !begun) return begun.error();
  const auto content = state_->find(path);
  if (!content) return content.error();
  return std::unique_ptr<File>(std::make_unique<OpenFile>(state_, *content, path));
}

Result<std::unique_ptr<File>> SimulatedDisk::open_to_write(const std::string& path) {
  return open_to_read(path);
}

Result<void> SimulatedDisk::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::rename, from); !begun) return begun.error();
  const auto content = state_->find(from);
  if (!content) return content.error();
  if (split(from).first != split(to).first) return Error{to + ": not in the same folder", ""};
  return state_->change(split(from).first,
                        {{split(from).second, nullptr}, {split(to).second, *content}});
}

Result<void> SimulatedDisk::remove(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::remove, path); !begun) return begun.error();
  if (const auto content = state_->find(path); !content) return content.error();
  return state_->change(split(path).first, {{split(path).second, nullptr}});
}

Result<bool> SimulatedDisk::link(const std::string& from, const std::string& to) {
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::link, from); !begun) return begun.error();
  const auto content = state_->find(from);
  if (!content) return content.error();
  if (state_->find(to)) return Error{to + ": File exists", ""};
  if (!state_->links) return false;
  if (const auto done = state_->change(split(to).first, {{split(to).second, *content}}); !done) {
    return done.error();
  }
  return true;
}

Result<std::unique_ptr<Lock>> SimulatedDisk::lock_folder(const std::string& folder) {
  const std::lock_guard lock(state_->mutex);
  if (const auto begun = state_->begin(Operation::lock, folder); !begun) return begun.error();
  if (!state_->locks.insert(folder).second) {
    return Error{folder + " is locked by another process", ""};
  }
  return std::unique_ptr<Lock>(std::make_unique<HeldLock>(state_, folder));
}

}  // namespace gorgo::journal

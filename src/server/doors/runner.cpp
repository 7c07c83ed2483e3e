#include "server/doors/runner.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <utility>

#include "base/thread_name.hpp"
#include "server/security/secret_file.hpp"

namespace gorgo::server {
namespace {

using std::chrono::milliseconds;

/// Some time between nothing and a bound that doubles, so that doors do not come back in step.
milliseconds pause_after(unsigned failures) {
  constexpr std::int64_t kFirst = 200, kLongest = 10'000;
  static thread_local std::minstd_rand random(std::random_device{}());
  const std::int64_t bound = std::min(kFirst << std::min(failures, 10u), kLongest);
  return milliseconds(std::uniform_int_distribution<std::int64_t>(kFirst / 2, bound)(random));
}

}  // namespace

Door identity_of(const std::string& name, const doors::Settings& settings) {
  return {.name = name,
          .kind = settings.kind,
          .direction = settings.is_sink() ? "out" : "in",
          .target = settings.target()};
}

Runner::Runner(const DoorParts& parts, std::uint64_t id, std::string name, doors::Settings settings)
    : parts_(parts),
      name_(std::move(name)),
      settings_(std::move(settings)),
      report_(identity_of(name_, settings_)),
      link_(parts.link, id, name_, [this](bool is_stopped) {
        const std::lock_guard lock(wake_mutex_);
        if (wake_) wake_(is_stopped);
      }) {}

Runner::~Runner() {
  stop();
  join();
}

void Runner::start() {
  warn_of_open_secrets();
  begin();
  thread_ = std::thread([this] {
    name_thread("door", name_);
    try {
      run();
    } catch (const std::exception& failure) {
      report_.set_problem(failure.what());
      parts_.log.error("a door has ended", {{"door", name_}, {"error", failure.what()}});
    }
    set_wake({});
  });
}

/// Doors have worked with such files, so they go on.
void Runner::warn_of_open_secrets() const {
  for (const std::string* file : {&settings_.password_file, &settings_.certificate_key}) {
    std::error_code missing;
    if (!std::filesystem::exists(*file, missing)) continue;
    const auto checked = check_secret_file(*file);
    if (checked) continue;
    parts_.log.warning("others may get at a secret of a door",
                       {{"door", name_}, {"error", checked.error().to_string()}});
  }
}

void Runner::stop() { link_.stop(); }

void Runner::join() {
  if (thread_.joinable()) thread_.join();
}

void Runner::set_wake(std::function<void(bool)> wake) {
  const std::lock_guard lock(wake_mutex_);
  wake_ = std::move(wake);
}

void Runner::fail(const Error& why) {
  if (report_.set_problem(why.to_string())) {
    parts_.log.warning("a door cannot go on, and tries again",
                       {{"door", name_}, {"error", why.to_string()}});
  }
  pause(pause_after(failures_++));
}

void Runner::pause(milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!link_.is_stopped()) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0) return;
    link_.wait(std::chrono::ceil<milliseconds>(left));
  }
}

void Runner::succeed() {
  failures_ = 0;
  report_.set_open();
  if (report_.set_problem("")) parts_.log.info("a door works again", {{"door", name_}});
}

void Runner::succeed_but_for(const Error& problem) {
  failures_ = 0;
  report_.set_open();
  if (!report_.set_lasting_problem(problem.to_string())) return;
  parts_.log.warning("a door cannot read everything, and goes on with the rest",
                     {{"door", name_}, {"error", problem.to_string()}});
}

}  // namespace gorgo::server

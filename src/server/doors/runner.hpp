#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "doors/door.hpp"
#include "doors/payload.hpp"
#include "doors/settings.hpp"
#include "server/doors/door_report.hpp"
#include "server/doors/engine_link.hpp"
#include "server/log.hpp"

namespace gorgo::server {

/// What all doors are given.
struct DoorParts {
  EngineLink::Parts link;
  doors::Types types;
  Log& log;
  bool has_journal;  ///< subscriptions can be durable
  bool is_durable;   ///< events are to be durable before their source forgets them
  /// How far a door has read, as far as the engine thread has taken its events. On that thread.
  std::function<doors::Position(const std::string& door)> position_of;
  /// Has the job run on the thread that the doors belong to.
  std::function<void(std::function<void()> job)> post;
};

/// What is known of a door before it works.
Door identity_of(const std::string& name, const doors::Settings& settings);

/// One door at work, on a thread of its own. `start` once; `stop` from any thread.
class Runner {
 public:
  virtual ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void start();
  /// Has the thread end. What the engine has taken stays taken; what it has not comes again.
  void stop();
  /// Has the thread end once it has taken everything that the engine has for it.
  void finish() { link_.finish(); }
  /// Waits until the thread has ended.
  void join();
  /// `done` is called on the engine thread when the door is gone, and what it asked for is done.
  void at_end(std::function<void()> done) { link_.at_end(std::move(done)); }

  const doors::Settings& settings() const { return settings_; }
  Door info() const { return report_.info(); }

 protected:
  Runner(const DoorParts& parts, std::uint64_t id, std::string name, doors::Settings settings);

  /// Nobody waits longer without looking around.
  static constexpr std::chrono::milliseconds kPatience{1000};

  /// Asks the engine for what has to be asked before the thread runs.
  virtual void begin() {}
  virtual void run() = 0;

  /// Has `wake` called on another thread when there are news of the engine, or the door stops.
  void set_wake(std::function<void(bool is_stopped)> wake);
  /// Says that the door cannot go on for now, and waits before the next attempt.
  void fail(const Error& why);
  /// Waits as long, or until the door stops.
  void pause(std::chrono::milliseconds time);
  /// Says that it works.
  void succeed();
  /// Says that it works, but for a part of what it should do.
  void succeed_but_for(const Error& problem);

  const DoorParts parts_;
  const std::string name_;
  const doors::Settings settings_;
  DoorReport report_;
  std::mutex wake_mutex_;  // guards what follows
  std::function<void(bool)> wake_;
  EngineLink link_;

 private:
  unsigned failures_ = 0;  // since something worked
  std::thread thread_;

  void warn_of_open_secrets() const;
};

/// By which a door's thread makes its source, which goes on behind the position, or its sink. It
/// tries again after an error.
using SourceMaker = std::function<Result<std::unique_ptr<doors::Source>>(const doors::Position&)>;
using SinkMaker = std::function<Result<std::unique_ptr<doors::ColumnSink>>()>;

/// Takes events from a source to the engine.
std::unique_ptr<Runner> make_source_runner(const DoorParts& parts, std::uint64_t id,
                                           std::string name, doors::Settings settings,
                                           doors::Position position, SourceMaker make);
/// Takes events from the engine to a sink.
std::unique_ptr<Runner> make_sink_runner(const DoorParts& parts, std::uint64_t id, std::string name,
                                         doors::Settings settings, SinkMaker make);

}  // namespace gorgo::server

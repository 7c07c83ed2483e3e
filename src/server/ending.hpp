#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "server/actions/action_targets.hpp"
#include "server/doors/doors.hpp"
#include "server/engine/engine_thread.hpp"
#include "server/service_manager.hpp"
#include "server/sessions/listener.hpp"
#include "server/sessions/session_table.hpp"

namespace gorgo::cluster {
class Node;
}

namespace gorgo::server {

/// The stages of a server's end (docs/server.md, "The end"): it serves on for a grace, works off
/// what was accepted, and ends or gives up. Belongs to the I/O thread.
class Ending {
 public:
  struct Parts {
    SessionHub& hub;
    SessionTable& sessions;
    const std::vector<std::unique_ptr<Listener>>& listeners;
    EngineThread& engine;
    ServiceManager& manager;
    Doors& doors;
    ActionTargets& actions;
    const std::unique_ptr<cluster::Node>& node;  // null: the server is in no cluster
  };
  /// `on_end` is called when the engine and all sessions have ended.
  Ending(Parts parts, std::function<void()> on_end);

  /// Begins the next stage, if need be before its time.
  void stop();
  /// The engine thread has ended, because of that or because it failed.
  void engine_ended();
  /// A session has ended.
  void session_ended() { end_when_idle(); }

  /// Nothing more is read.
  bool is_draining() const { return draining_; }
  bool has_begun() const { return parts_.hub.stops_at || draining_; }
  bool is_engine_ended() const { return engine_ended_; }
  /// Whether accepted events were given up.
  bool gave_up() const { return gave_up_; }

 private:
  Parts parts_;
  const std::function<void()> on_end_;
  boost::asio::steady_timer next_stage_;  // ends the grace, or gives up
  bool draining_ = false;
  bool engine_ended_ = false;
  bool gave_up_ = false;

  /// Has the other nodes of the cluster take over what this one has of it.
  void leave_cluster() const;
  /// Serves on for the grace, and tells everybody that this is the end.
  void leave();
  /// Reads nothing more; what was read is carried out.
  void drain();
  /// Gives up what is left.
  void give_up();
  void go_on_after(std::chrono::milliseconds wait, void (Ending::*stage)());
  void end_when_idle();
};

}  // namespace gorgo::server

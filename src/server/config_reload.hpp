#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/actions/action_targets.hpp"
#include "server/doors/doors.hpp"
#include "server/log.hpp"
#include "server/options.hpp"
#include "server/security/doorkeeper.hpp"
#include "server/sessions/listener.hpp"
#include "server/sessions/session_table.hpp"

namespace gorgo::server {

/// Takes over a changed configuration, with the files of users and certificates, while the server
/// runs: as a whole or not at all. Belongs to the I/O thread.
class ConfigReload {
 public:
  using Listeners = std::vector<std::unique_ptr<Listener>>;
  using Reread = std::function<Result<ServerOptions>()>;

  /// All of them must outlive it.
  ConfigReload(ServerOptions& options, Log& log, Doorkeeper& doorkeeper, const Listeners& listeners,
               const SessionTable& sessions, Doors& doors, ActionTargets& actions)
      : options_(options),
        log_(log),
        doorkeeper_(doorkeeper),
        listeners_(listeners),
        sessions_(sessions),
        doors_(doors),
        actions_(actions) {}

  /// Reads the configuration; empty: it never changes.
  void set_reread(Reread reread) { reread_ = std::move(reread); }
  /// Reads the configuration and takes it over. Returns what has changed, for people. An error:
  /// it is wrong, or something else has changed than what a running server takes over, so nothing
  /// was. The log says so, too. The session of `asker`, 0: of nobody, goes on whatever has changed,
  /// because it is to get the answer.
  Result<std::vector<std::string>> take_over_anew(std::uint64_t asker);
  /// Ends the session of the asker behind the answer, unless its user may stay.
  void answered(std::uint64_t asker);

 private:
  ServerOptions& options_;
  Log& log_;
  Doorkeeper& doorkeeper_;
  const Listeners& listeners_;
  const SessionTable& sessions_;
  Doors& doors_;
  ActionTargets& actions_;
  Reread reread_;

  Result<std::vector<std::string>> read_and_take_over(std::uint64_t asker);
  Result<Doorkeeper::Keys> keys_for(const ServerOptions& fresh) const;
  Result<std::vector<std::string>> take_over(const ServerOptions& fresh, Doorkeeper::Keys keys,
                                             std::uint64_t asker);
  void take_over(Doorkeeper::Keys keys, std::uint64_t asker);
  /// Whether the client may stay as it is; its user may have other limits.
  bool may_stay(Session& session, bool asked) const;
};

}  // namespace gorgo::server

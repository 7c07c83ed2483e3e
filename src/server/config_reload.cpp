#include "server/config_reload.hpp"

#include <utility>

#include "server/config/key.hpp"

namespace gorgo::server {

Result<std::vector<std::string>> ConfigReload::take_over_anew(std::uint64_t asker) {
  if (!reread_) return std::vector<std::string>();
  auto changed = read_and_take_over(asker);
  if (!changed) {
    log_.error("the configuration is not reloaded", {{"error", changed.error().to_string()}});
  }
  return changed;
}

/// All of it or nothing: what was changed on purpose together is not to hold in part.
Result<std::vector<std::string>> ConfigReload::read_and_take_over(std::uint64_t asker) {
  const auto fresh = reread_();
  if (!fresh) return fresh.error();
  // The files may have changed where their names have not.
  auto keys = keys_for(*fresh);
  if (!keys) return keys.error();
  return take_over(*fresh, std::move(*keys), asker);
}

/// An error also where a port that is open to others would lose what protects it.
Result<Doorkeeper::Keys> ConfigReload::keys_for(const ServerOptions& fresh) const {
  for (const auto& listener : listeners_) {
    if (auto safe = listener->check_exposure(fresh); !safe) return safe.error();
  }
  return Doorkeeper::read(fresh);
}

/// Connections of users who are gone, or who may do something else from now on, end. Other limits
/// hold for those that are open, too.
void ConfigReload::take_over(Doorkeeper::Keys keys, std::uint64_t asker) {
  const bool asked = doorkeeper_.asks();
  doorkeeper_.set(std::move(keys));
  for (const auto& [id, session] : sessions_.all()) {
    if (id == asker || may_stay(*session, asked)) continue;
    session->turn_away(EndReason::forbidden, wire::ErrorCode::Unauthenticated,
                       {"the users of the server have changed", "connect and log in again"});
  }
}

void ConfigReload::answered(std::uint64_t asker) {
  const auto sessions = sessions_.all();
  const auto found = sessions.find(asker);
  if (found == sessions.end() || may_stay(*found->second, false)) return;
  found->second->leave(EndReason::forbidden, "the users of the server have changed");
}

bool ConfigReload::may_stay(Session& session, bool asked) const {
  const UserPtr& user = session.gate().user();
  if (user == nullptr) return asked || !doorkeeper_.asks() || !session.is_greeted();
  if (!doorkeeper_.asks()) return false;
  const UserPtr now = doorkeeper_.find(user->name);
  if (now == nullptr || !are_same_but_for_limits(*now, *user)) return false;
  session.gate().set_user(now);
  return true;
}

Result<std::vector<std::string>> ConfigReload::take_over(const ServerOptions& fresh,
                                                         Doorkeeper::Keys keys,
                                                         std::uint64_t asker) {
  const auto changes = changes_between(options_, fresh);
  std::string fixed, all;
  std::vector<std::string> changed;
  for (const ConfigChange& change : changes) {
    const std::string text = change.to_string();
    if (!change.key->is_live) {
      fixed += (fixed.empty() ? "" : "; ") + text;
      continue;
    }
    all += (all.empty() ? "" : "; ") + text;
    changed.push_back(text);
  }
  if (!fixed.empty()) return Error{"this needs a restart: " + fixed, "restart, or change it back"};
  for (const ConfigChange& change : changes) {
    static_cast<void>(change.key->set(options_, *change.key->get(fresh)));
  }
  options_.doors = fresh.doors;
  options_.actions = fresh.actions;
  const auto of_keys = doorkeeper_.changes_to(keys);
  take_over(std::move(keys), asker);
  for (const auto& done :
       {of_keys, actions_.apply(options_.actions), doors_.apply(options_.doors)}) {
    for (const std::string& change : done) {
      all += (all.empty() ? "" : "; ") + change;
      changed.push_back(change);
    }
  }
  log_.set_level(options_.log_level);
  if (!changed.empty()) log_.info("the configuration is reloaded", {{"changed", all}});
  return changed;
}

}  // namespace gorgo::server

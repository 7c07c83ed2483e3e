#include "server/security/users.hpp"

#include <toml++/toml.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "server/security/secret_file.hpp"
#include "server/security/secrets.hpp"

namespace gorgo::server {
namespace {

using Done = std::optional<std::string>;  // what is wrong

Done read_texts(const toml::node& node, std::vector<std::string>& out) {
  const toml::array* const array = node.as_array();
  if (array == nullptr) return "expected a list of strings";
  out.clear();
  for (const toml::node& element : *array) {
    const auto text = element.value_exact<std::string>();
    if (!text || text->empty()) return "expected a list of strings that are not empty";
    out.push_back(*text);
  }
  return std::nullopt;
}

Done read_text(const toml::node& node, std::string& out) {
  const auto text = node.value_exact<std::string>();
  if (!text || text->empty()) return "expected a string that is not empty";
  out = *text;
  return std::nullopt;
}

Done read_flag(const toml::node& node, bool& out) {
  const auto flag = node.value_exact<bool>();
  if (!flag) return "expected true or false";
  out = *flag;
  return std::nullopt;
}

Done read_password(const toml::node& node, User& user) {
  if (auto wrong = read_text(node, user.password_hash)) return wrong;
  if (!is_password_hash(user.password_hash)) {
    return "expected a hash of argon2id, as `gorgo user hash` prints it";
  }
  if (has_bearable_cost(user.password_hash)) return std::nullopt;
  return "a login would take more than 1 GiB of memory or four passes over it; make another hash "
         "with `gorgo user hash`";
}

Done read_tokens(const toml::node& node, User& user) {
  if (auto wrong = read_texts(node, user.token_hashes)) return wrong;
  for (const std::string& hash : user.token_hashes) {
    if (!is_token_hash(hash)) return "expected hashes of tokens, as `gorgo user token` prints them";
  }
  return std::nullopt;
}

Done read_rules(const toml::node& node, User& user) {
  std::vector<std::string> verbs;
  if (auto wrong = read_texts(node, verbs)) return wrong;
  for (const std::string& verb : verbs) {
    if (verb == "see") user.sees_rules = true;
    if (verb == "deploy") user.deploys_rules = true;
    if (verb == "remove") user.removes_rules = true;
    if (verb != "see" && verb != "deploy" && verb != "remove") {
      return "'" + verb + "' is none of see, deploy, remove";
    }
  }
  return std::nullopt;
}

Done read_limit(const toml::node& node, std::uint64_t& out) {
  const auto number = node.value_exact<std::int64_t>();
  if (!number || *number < 1) return "expected a number from 1; without the key there is no limit";
  out = static_cast<std::uint64_t>(*number);
  return std::nullopt;
}

Done read_limits(const toml::node& node, User& user) {
  const toml::table* const table = node.as_table();
  if (table == nullptr) return "expected a table, such as { connections = 10 }";
  const std::map<std::string_view, std::uint64_t*> limits = {
      {"connections", &user.limits.connections},
      {"subscriptions", &user.limits.subscriptions},
      {"events_per_second", &user.limits.events_per_second},
      {"bytes_per_second", &user.limits.bytes_per_second}};
  for (const auto& [key, value] : *table) {
    const auto known = limits.find(key.str());
    if (known == limits.end()) {
      return "'" + std::string(key.str()) +
             "' is none of connections, subscriptions, events_per_second, bytes_per_second";
    }
    if (auto wrong = read_limit(value, *known->second)) {
      return std::string(key.str()) + ": " + *wrong;
    }
  }
  return std::nullopt;
}

using ReadKey = std::function<Done(const toml::node&, User&)>;

const std::map<std::string, ReadKey, std::less<>>& keys() {
  static const std::map<std::string, ReadKey, std::less<>> all = {
      {"name", [](const auto& node, User& user) { return read_text(node, user.name); }},
      {"password", read_password},
      {"tokens", read_tokens},
      {"publish",
       [](const auto& node, User& user) { return read_texts(node, user.publish.allow); }},
      {"publish_deny",
       [](const auto& node, User& user) { return read_texts(node, user.publish.deny); }},
      {"subscribe",
       [](const auto& node, User& user) { return read_texts(node, user.subscribe.allow); }},
      {"subscribe_deny",
       [](const auto& node, User& user) { return read_texts(node, user.subscribe.deny); }},
      {"rules", read_rules},
      {"deployments",
       [](const auto& node, User& user) { return read_texts(node, user.deployments.allow); }},
      {"deployments_deny",
       [](const auto& node, User& user) { return read_texts(node, user.deployments.deny); }},
      {"limits", read_limits},
      {"block", [](const auto& node, User& user) { return read_flag(node, user.blocks); }},
      {"admin", [](const auto& node, User& user) { return read_flag(node, user.admin); }},
  };
  return all;
}

std::string place_of(const std::string& path, const toml::source_position& at) {
  return path + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
}

Error unknown_key(const std::string& place, const std::string& key,
                  const std::vector<std::string>& known) {
  const auto closest = closest_name(key, known);
  return {place + "'" + key + "' is no key of a user" +
              (closest.empty() ? "" : ", did you mean '" + std::string(closest) + "'?"),
          "docs/security.md has all keys"};
}

Result<User> read_user(const toml::table& table, const std::string& path) {
  User user;
  for (const auto& [key, node] : table) {
    const std::string place = place_of(path, key.source().begin);
    const auto known = keys().find(key.str());
    if (known == keys().end()) {
      std::vector<std::string> names;
      for (const auto& [name, read] : keys()) names.push_back(name);
      return unknown_key(place, std::string(key.str()), names);
    }
    if (const auto wrong = known->second(node, user)) {
      return Error{place + std::string(key.str()) + ": " + *wrong, ""};
    }
  }
  if (user.name.empty()) {
    return Error{place_of(path, table.source().begin) + "the user has no name",
                 "add name = \"..\""};
  }
  return user;
}

}  // namespace

Result<void> Users::add(User user) {
  const auto shared = std::make_shared<const User>(std::move(user));
  if (!users_.emplace(shared->name, shared).second) {
    return Error{"the user '" + shared->name + "' stands twice", ""};
  }
  if (decoy_.empty()) decoy_ = shared->password_hash;
  for (const std::string& hash : shared->token_hashes) {
    if (!tokens_.emplace(hash, shared).second) {
      return Error{"a token of '" + shared->name + "' stands twice",
                   "make one for each user with `gorgo user token`"};
    }
  }
  return {};
}

Result<std::shared_ptr<const Users>> Users::parse(std::string_view text, const std::string& path) {
  const auto parsed = toml::parse(text, path);
  if (!parsed) {
    return Error{
        place_of(path, parsed.error().source().begin) + std::string(parsed.error().description()),
        ""};
  }
  auto users = std::make_shared<Users>();
  for (const auto& [key, node] : parsed.table()) {
    const std::string place = place_of(path, key.source().begin);
    if (key.str() != "user") return unknown_key(place, std::string(key.str()), {"user"});
    const toml::array* const list = node.as_array();
    if (list == nullptr) return Error{place + "users stand in tables [[user]]", ""};
    for (const toml::node& element : *list) {
      const toml::table* const table = element.as_table();
      if (table == nullptr) return Error{place + "users stand in tables [[user]]", ""};
      auto user = read_user(*table, path);
      if (!user) return user.error();
      const auto added = users->add(std::move(*user));
      if (!added) {
        return Error{place_of(path, table->source().begin) + added.error().message,
                     added.error().hint};
      }
    }
  }
  if (users->users_.empty()) {
    return Error{path + ": there is no user", "add one: [[user]] with name = \"..\""};
  }
  return std::shared_ptr<const Users>(std::move(users));
}

Result<std::shared_ptr<const Users>> Users::read(const std::string& path) {
  const auto text = read_secret_file(path);
  if (!text) return Error{"security.users: " + text.error().message, text.error().hint};
  return parse(*text, path);
}

std::vector<std::string> Users::changes_since(const Users& before) const {
  std::vector<std::string> changes;
  const auto note = [&](const std::string& name, const std::string& what) {
    changes.push_back("user '" + name + "': " + what);
  };
  for (const auto& [name, user] : users_) {
    const UserPtr old = before.find(name);
    if (old == nullptr) {
      note(name, "new");
    } else if (*old != *user) {
      note(name, "changed");
    }
  }
  for (const auto& [name, user] : before.users_) {
    if (!users_.contains(name)) note(name, "gone");
  }
  return changes;
}

UserPtr Users::find(const std::string& name) const {
  const auto known = users_.find(name);
  return known == users_.end() ? nullptr : known->second;
}

UserPtr Users::with_token(std::string_view token) const {
  const auto known = tokens_.find(hash_of_token(token));
  return known == tokens_.end() ? nullptr : known->second;
}

}  // namespace gorgo::server

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gorgo/client.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/listing.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"

namespace gorgo::tools {
namespace {

struct ConnectionsOptions {
  std::string to = "127.0.0.1:7450";
  std::string format = "text";
  bool closed = false;
  std::uint64_t disconnect = 0;
  Login login;
};

std::string rounded(double number) { return std::to_string(std::llround(number)); }

nlohmann::ordered_json to_json(const ClientConnection& connection) {
  nlohmann::ordered_json json = {{"id", connection.id},
                                 {"name", connection.name},
                                 {"user", connection.user},
                                 {"peer", connection.peer},
                                 {"dialect", connection.dialect},
                                 {"seconds", connection.seconds},
                                 {"subscriptions", connection.subscriptions},
                                 {"published", connection.published},
                                 {"delivered", connection.delivered}};
  if (connection.reason.empty()) {
    json["bytes"] = connection.bytes;
    json["backlog"] = connection.backlog;
    json["published_per_second"] = connection.published_per_second;
    json["delivered_per_second"] = connection.delivered_per_second;
  } else {
    json["reason"] = connection.reason;
    json["detail"] = connection.detail;
    json["closed_ms"] = connection.closed_ms;
  }
  return json;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

Table open_table(const std::vector<ClientConnection>& connections) {
  Table rows = {{"ID", "NAME", "USER", "PEER", "DOOR", "OPEN S", "SUBSCRIPTIONS", "BACKLOG", "IN/S",
                 "OUT/S"}};
  for (const ClientConnection& c : connections) {
    rows.push_back({std::to_string(c.id), or_dash(c.name), or_dash(c.user), c.peer, c.dialect,
                    rounded(c.seconds), std::to_string(c.subscriptions), std::to_string(c.backlog),
                    rounded(c.published_per_second), rounded(c.delivered_per_second)});
  }
  return rows;
}

Table closed_table(const std::vector<ClientConnection>& connections) {
  Table rows = {{"ID", "NAME", "USER", "PEER", "DOOR", "OPEN S", "IN", "OUT", "REASON", "DETAIL"}};
  for (const ClientConnection& c : connections) {
    rows.push_back({std::to_string(c.id), or_dash(c.name), or_dash(c.user), c.peer, c.dialect,
                    rounded(c.seconds), std::to_string(c.published), std::to_string(c.delivered),
                    c.reason, c.detail});
  }
  return rows;
}

int list(const ConnectionsOptions& options) {
  auto client = connect(options.to, "connections", options.login);
  if (!client) return fail(client.error());
  const auto connections = client->connections(options.closed);
  if (!connections) return fail(connections.error());
  if (options.format == "text") {
    print_table(options.closed ? closed_table(*connections) : open_table(*connections));
    return kSuccess;
  }
  auto json = nlohmann::ordered_json::array();
  for (const ClientConnection& connection : *connections) json.push_back(to_json(connection));
  print_json(json);
  return kSuccess;
}

int disconnect(const ConnectionsOptions& options) {
  auto client = connect(options.to, "connections", options.login);
  if (!client) return fail(client.error());
  const auto done = client->disconnect(options.disconnect);
  return done ? kSuccess : fail(done.error());
}

}  // namespace

void add_connections(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "connections",
      "List the open connections of a server: who is there, how much waits for each and how many\n"
      "events a second it sends and gets; or those that have ended, and why; or end one");
  const auto options = std::make_shared<ConnectionsOptions>();
  command->add_flag("--closed", options->closed, "Those that ended last, at most 10 000, and why");
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  add_login(*command, options->login);
  as_format(command, options->format);
  auto* end =
      command->add_subcommand("disconnect", "End a connection, which is told so")->fallthrough();
  end->add_option("ID", options->disconnect, "Its number in the list")->required();
  command->callback([options, end, &exit_code] {
    exit_code = end->parsed() ? disconnect(*options) : list(*options);
  });
}

}  // namespace gorgo::tools

#pragma once

#include <gtest/gtest.h>
#include <libpq-fe.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "door_support.hpp"
#include "peer_support.hpp"

namespace gorgo {

/// A cluster of its own. It does not run as root, so its files belong to nobody.
class Postgres {
 public:
  static constexpr uid_t kNobody = 65534;

  /// `more`: further arguments.
  explicit Postgres(const Folder& folder, Command more = {})
      : data_((folder / "data").string()), more_(std::move(more)), port_(free_port()) {
    fs::remove_all(data_);
    fs::create_directories(data_);
    fs::permissions(data_, fs::perms::owner_all);
    if (geteuid() == 0) {
      EXPECT_EQ(chown(data_.c_str(), kNobody, kNobody), 0);
    }
    const int made = Peer(as_nobody({GORGO_POSTGRES "/initdb", "-D", data_, "-U", "gorgo", "-A",
                                     "trust", "-E", "UTF8", "--no-sync"}))
                         .wait();
    EXPECT_EQ(made, 0);
    start();
  }

  std::string port() const { return std::to_string(port_); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// As after a loss of power: nothing is written that is not yet.
  void crash() { process_->end(SIGQUIT); }
  void start() {
    Command command{GORGO_POSTGRES "/postgres",
                    "-D",
                    data_,
                    "-p",
                    std::to_string(port_),
                    "-h",
                    "127.0.0.1",
                    "-k",
                    data_};
    command.insert(command.end(), more_.begin(), more_.end());
    process_.emplace(as_nobody(std::move(command)));
  }

 private:
  const std::string data_;
  const Command more_;
  const int port_;
  std::optional<Peer> process_;

  static Command as_nobody(Command command) {
    const std::string nobody = std::to_string(kNobody);
    if (geteuid() == 0) {
      const Command before{"setpriv", "--reuid=" + nobody, "--regid=" + nobody, "--clear-groups"};
      command.insert(command.begin(), before.begin(), before.end());
    }
    return command;
  }
};

/// Asks the database what comes of a statement: its cells, row by row.
inline std::vector<std::string> ask(const Postgres& database, const std::string& statement) {
  const std::string where = "host=127.0.0.1 user=gorgo dbname=postgres port=" + database.port();
  const Patience patience("for the database");
  std::vector<std::string> cells;
  while (patience.lasts()) {
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(where.c_str()),
                                                                  PQfinish);
    const std::unique_ptr<PGresult, decltype(&PQclear)> answer(
        PQexec(connection.get(), statement.c_str()), PQclear);
    const auto status = PQresultStatus(answer.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    for (int row = 0; row < PQntuples(answer.get()); ++row) {
      for (int column = 0; column < PQnfields(answer.get()); ++column) {
        cells.emplace_back(PQgetvalue(answer.get(), row, column));
      }
    }
    return cells;
  }
  return cells;
}

}  // namespace gorgo

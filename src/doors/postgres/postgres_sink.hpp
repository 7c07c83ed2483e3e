#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "doors/door.hpp"
#include "doors/postgres/connection.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::postgres {

/// Inserts events into a table of PostgreSQL, as many in a statement as there are. What the table
/// has already, by a unique constraint of its own, is not inserted again.
class PostgresSink : public Sink {
 public:
  explicit PostgresSink(const Settings& settings) : settings_(settings), connection_(settings) {}

  Result<void> send(const Departing& events) override;
  void wake() override { connection_.wake(); }

 private:
  const Settings settings_;
  Connection connection_;
  std::string table_;                 // as statements have it
  std::vector<std::string> columns_;  // as the table has them

  Result<void> open();
  Result<void> look_at_table();
  Result<void> insert(std::span<const Departing::Row> rows);
  /// Unset: the event says nothing, and the column has its default.
  Error explained(const Error& error, std::span<const Departing::Row> rows) const;
  std::optional<std::string> cell(const Departing::Row& row, const std::string& column) const;
  Result<Connection::Answer> run(const std::string& statement, const Connection::Values& values) {
    return connection_.run("the table " + settings_.table, statement, values);
  }
};

}  // namespace gorgo::doors::postgres

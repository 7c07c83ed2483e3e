#pragma once

#include <libpq-fe.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "doors/door.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::postgres {

/// Inserts events into a table of PostgreSQL, as many in a statement as there are. What the table
/// has already, by a unique constraint of its own, is not inserted again.
class PostgresSink : public Sink {
 public:
  explicit PostgresSink(const Settings& settings) : settings_(settings) {}

  Result<void> send(const Departing& events) override;
  void wake() override { is_woken_ = true; }

 private:
  struct Finish {
    void operator()(PGconn* one) const { PQfinish(one); }
  };
  struct Clear {
    void operator()(PGresult* one) const { PQclear(one); }
  };
  using Answer = std::unique_ptr<PGresult, Clear>;

  const Settings settings_;
  std::unique_ptr<PGconn, Finish> connection_;
  std::string table_;                 // as statements have it
  std::vector<std::string> columns_;  // as the table has them
  std::atomic<bool> is_woken_ = false;

  Result<void> open();
  Result<void> connect();
  Result<void> look_at_table();
  Result<void> insert(std::span<const Departing::Row> rows);
  /// Unset: the event says nothing, and the column has its default.
  std::optional<std::string> cell(const Departing::Row& row, const std::string& column) const;
  /// Waits for the answer to the statement, but not longer than until `wake`.
  Result<Answer> run(const std::string& statement, const std::vector<std::string>& values);
  std::string quoted(const std::string& name) const;
  Error failed(const std::string& what) const;
};

}  // namespace gorgo::doors::postgres

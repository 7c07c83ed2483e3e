#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "actions/settings.hpp"
#include "actions/target.hpp"
#include "doors/postgres/connection.hpp"

namespace gorgo::actions {

/// A statement as the configuration has it, `update areas set hot = true where name = {area}`, and
/// as a database takes it.
struct SqlStatement {
  std::string text;                ///< with `$1` and so on
  std::vector<std::string> names;  ///< what they stand for: attributes, `key`, `id`, `type`, `time`

  explicit SqlStatement(const std::string& with_names);
};

/// Executes a statement of SQL for each order, in a transaction that also notes the order's key in
/// a table. So an order that is tried again is carried out once.
class Sql : public Target {
 public:
  explicit Sql(const Settings& settings);

  std::vector<Outcome> attempt(std::span<const Order* const> orders) override;
  void wake() override;

 private:
  using Connection = doors::postgres::Connection;

  const SqlStatement statement_;
  const std::string table_;  ///< of keys
  std::string keys_;         ///< its name as statements have it
  Connection connection_;
  std::atomic<bool> is_woken_ = false;

  Result<void> open();
  Result<void> find_keys();
  Outcome carry_out(const Order& order);
  /// Within a transaction. False: the order was carried out before.
  Result<bool> execute(const Order& order);
  Outcome outcome_of(const Error& problem) const;
};

}  // namespace gorgo::actions

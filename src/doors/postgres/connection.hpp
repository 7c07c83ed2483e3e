#pragma once

#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "doors/settings.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::doors::postgres {

/// A connection to PostgreSQL, by the settings `database`, `password_file` and `ca`. One thread
/// calls, but for `wake`.
class Connection {
 public:
  struct Clear {
    void operator()(PGresult* one) const { PQclear(one); }
  };
  using Answer = std::unique_ptr<PGresult, Clear>;
  using Values = std::vector<std::optional<std::string>>;  ///< unset: null

  explicit Connection(const Settings& settings) : settings_(settings) {}

  bool is_open() const;
  Result<void> open();
  void close() { connection_.reset(); }
  /// Waits for the answer to the statement, but not longer than until `wake`. `about`: what a
  /// problem is about. Precondition: it was opened.
  Result<Answer> run(const std::string& about, const std::string& statement,
                     const Values& values = {});
  /// The SQLSTATE of the last `run`; empty: it succeeded, or the database did not answer.
  const std::string& state() const { return state_; }
  /// Which of the values, from 1, the last `run` has failed for; 0: the database names none.
  std::size_t failed_value() const { return failed_value_; }
  /// The name as statements have it. Precondition: it is open.
  std::string quoted(const std::string& name) const;
  /// Has a `run` that waits, or the next one, return with an error. Any thread.
  void wake() { is_woken_ = true; }

 private:
  struct Finish {
    void operator()(PGconn* one) const { PQfinish(one); }
  };

  const Settings settings_;
  std::unique_ptr<PGconn, Finish> connection_;
  std::string state_;
  std::size_t failed_value_ = 0;
  std::atomic<bool> is_woken_ = false;

  /// An error: the connection is of no more use.
  Result<void> wait(std::chrono::steady_clock::time_point until);
  Result<Answer> wait_for_answer();
  Error failed(const std::string& about) const;
};

}  // namespace gorgo::doors::postgres

#include "doors/postgres/connection.hpp"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>
#include <utility>

namespace gorgo::doors::postgres {
namespace {

constexpr const char* kSubject = "the database";

bool is_done(const Connection::Answer& answer) {
  const auto status = PQresultStatus(answer.get());
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/// The number of the value that the context of an error names, as in `unnamed portal parameter $3`,
/// in whatever language; 0: it names none.
std::size_t value_in(const char* context) {
  const std::string_view text = context == nullptr ? "" : context;
  const auto sign = text.find('$');
  std::size_t number = 0;
  if (sign != text.npos) std::from_chars(text.data() + sign + 1, text.data() + text.size(), number);
  return number;
}

}  // namespace

bool Connection::is_open() const {
  return connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK;
}

Error Connection::failed(const std::string& about) const {
  std::string why = PQerrorMessage(connection_.get());
  why.resize(std::min(why.find('\n'), why.size()));  // the rest says where in the statement
  return {about + ": " + why, ""};
}

Result<void> Connection::open() {
  std::string password;
  if (!settings_.password_file.empty()) {
    auto given = password_of(settings_);
    if (!given) return given.error();
    password = std::move(*given);
  }
  std::vector<const char*> keys, values;
  const auto set = [&](const char* key, const char* value) {
    keys.push_back(key);
    values.push_back(value);
  };
  set("connect_timeout", "5");
  set("tcp_user_timeout", "15000");
  set("fallback_application_name", "gorgo");
  set("dbname", settings_.database.c_str());
  // What stands behind `dbname` is stronger than what the connection string says.
  if (!password.empty()) set("password", password.c_str());
  if (!settings_.ca.empty()) {
    set("sslmode", "verify-full");
    set("sslrootcert", settings_.ca.c_str());
  }
  set(nullptr, nullptr);
  connection_.reset(PQconnectdbParams(keys.data(), values.data(), 1));
  if (is_open()) return {};
  auto why = failed(kSubject);
  close();
  return why;
}

std::string Connection::quoted(const std::string& name) const {
  char* const made = PQescapeIdentifier(connection_.get(), name.data(), name.size());
  std::string text = made == nullptr ? name : made;
  PQfreemem(made);
  return text;
}

Result<void> Connection::wait(std::chrono::steady_clock::time_point until) {
  constexpr int kStep = 50;  // milliseconds
  PGconn* const connection = connection_.get();
  while (PQisBusy(connection) != 0) {
    if (is_woken_.exchange(false) || std::chrono::steady_clock::now() > until) {
      return Error{"it is not known whether the database has the events", ""};
    }
    pollfd socket{PQsocket(connection), POLLIN, 0};
    ::poll(&socket, 1, kStep);
    if (PQconsumeInput(connection) == 0) return failed(kSubject);
  }
  return {};
}

/// What a statement did counts when it is committed, which comes behind its own result: a deferred
/// constraint, or the end of the database, is an error there. So an error stands for all results.
Result<Connection::Answer> Connection::wait_for_answer() {
  constexpr std::chrono::seconds kPatience{30};
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (Answer answer;;) {
    if (auto came = wait(until); !came) return came.error();
    Answer next(PQgetResult(connection_.get()));
    if (next == nullptr) return {std::in_place, std::move(answer)};
    if (answer == nullptr || is_done(answer)) answer = std::move(next);
  }
}

Result<Connection::Answer> Connection::run(const std::string& about, const std::string& statement,
                                           const Values& values) {
  state_.clear();
  failed_value_ = 0;
  std::vector<const char*> parameters;
  for (const auto& value : values) parameters.push_back(value ? value->c_str() : nullptr);
  if (PQsendQueryParams(connection_.get(), statement.c_str(), static_cast<int>(parameters.size()),
                        nullptr, parameters.data(), nullptr, nullptr, 0) == 0) {
    return failed(kSubject);
  }
  auto answer = wait_for_answer();
  if (!answer) {
    close();
    return answer;
  }
  if (is_done(*answer)) return answer;
  if (const char* state = PQresultErrorField(answer->get(), PG_DIAG_SQLSTATE)) state_ = state;
  failed_value_ = value_in(PQresultErrorField(answer->get(), PG_DIAG_CONTEXT));
  return failed(about);
}

}  // namespace gorgo::doors::postgres

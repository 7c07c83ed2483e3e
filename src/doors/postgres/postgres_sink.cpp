#include "doors/postgres/postgres_sink.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "codec/event_line.hpp"
#include "codec/timestamp.hpp"
#include "doors/topic.hpp"

namespace gorgo::doors::postgres {
namespace {

constexpr std::size_t kMostParameters = 60'000;  // of a statement; the protocol has 65535
constexpr std::size_t kMostRows = 1000;

/// The attributes of an event as an object of JSON.
std::string attributes_of(const Event& event) {
  std::string line;
  codec::append_event_line(line, event);
  const auto begin = line.find("\"attrs\":");
  if (begin == line.npos) return "{}";
  const auto end = line.rfind('}');
  return line.substr(begin + 8, end - begin - 8);
}

}  // namespace

Error PostgresSink::failed(const std::string& what) const {
  std::string why = PQerrorMessage(connection_.get());
  why.resize(std::min(why.find('\n'), why.size()));  // the rest says where in the statement
  return {what + ": " + why, ""};
}

Result<void> PostgresSink::connect() {
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
  if (PQstatus(connection_.get()) == CONNECTION_OK) return {};
  auto why = failed("the database");
  connection_.reset();
  return why;
}

Result<void> PostgresSink::look_at_table() {
  const auto answer =
      run("select $1::regclass::text, attname from pg_attribute where attrelid = $1::regclass and "
          "attnum > 0 and not attisdropped and attgenerated = '' order by attnum",
          {settings_.table});
  if (!answer) return answer.error();
  columns_.clear();
  for (int row = 0; row < PQntuples(answer->get()); ++row) {
    table_ = PQgetvalue(answer->get(), row, 0);
    columns_.emplace_back(PQgetvalue(answer->get(), row, 1));
  }
  if (std::ranges::find(columns_, "id") != columns_.end()) return {};
  return Error{"the table " + settings_.table + " has no column id",
               "create table ... (id text, ts timestamptz, ..., primary key (id, ts))"};
}

Result<void> PostgresSink::open() {
  if (connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK) return {};
  auto opened = connect();
  if (opened) opened = look_at_table();
  if (!opened) connection_.reset();
  return opened;
}

std::string PostgresSink::quoted(const std::string& name) const {
  char* const made = PQescapeIdentifier(connection_.get(), name.data(), name.size());
  std::string text = made == nullptr ? name : made;
  PQfreemem(made);
  return text;
}

Result<PostgresSink::Answer> PostgresSink::run(const std::string& statement,
                                               const std::vector<std::string>& values) {
  constexpr std::chrono::seconds kPatience{30};
  constexpr int kStep = 50;  // milliseconds
  std::vector<const char*> parameters;
  for (const std::string& value : values) parameters.push_back(value.c_str());
  PGconn* const connection = connection_.get();
  if (PQsendQueryParams(connection, statement.c_str(), static_cast<int>(parameters.size()), nullptr,
                        parameters.data(), nullptr, nullptr, 0) == 0) {
    return failed("the database");
  }
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (PQisBusy(connection) != 0) {
    if (is_woken_.exchange(false) || std::chrono::steady_clock::now() > until) {
      connection_.reset();
      return Error{"it is not known whether the database has the events", ""};
    }
    pollfd socket{PQsocket(connection), POLLIN, 0};
    ::poll(&socket, 1, kStep);
    if (PQconsumeInput(connection) == 0) return failed("the database");
  }
  Answer answer(PQgetResult(connection));
  while (const Answer more{PQgetResult(connection)}) continue;
  const auto status = PQresultStatus(answer.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
    return {std::in_place, std::move(answer)};
  return failed("the table " + settings_.table);
}

std::optional<std::string> PostgresSink::cell(const Departing::Row& row,
                                              const std::string& column) const {
  std::string text;
  if (column == "id") {
    text = id_of(row.place);
  } else if (column == "type") {
    text = row.event.type;
  } else if (column == "attrs") {
    text = attributes_of(row.event);
  } else if (column == "ts" && row.event.timestamp) {
    codec::append_rfc3339(text, *row.event.timestamp);
  } else {
    const auto found = std::ranges::find(row.event.attributes, column, &Attribute::name);
    if (found == row.event.attributes.end()) return std::nullopt;
    text = text_of(found->value);
  }
  std::ranges::replace(text, '\0', ' ');  // which no text of the database can hold
  return text;
}

Result<void> PostgresSink::insert(std::span<const Departing::Row> rows) {
  std::string statement = "insert into " + table_ + " (";
  for (const std::string& column : columns_) {
    statement += (&column == columns_.data() ? "" : ", ") + quoted(column);
  }
  statement += ") values ";
  std::vector<std::string> values;
  for (const Departing::Row& row : rows) {
    statement += &row == rows.data() ? "(" : ", (";
    for (const std::string& column : columns_) {
      if (&column != columns_.data()) statement += ", ";
      if (auto value = cell(row, column)) {
        values.push_back(std::move(*value));
        statement += "$" + std::to_string(values.size());
      } else {
        statement += "default";
      }
    }
    statement += ")";
  }
  statement += " on conflict do nothing";
  const auto answer = run(statement, values);
  if (answer) return {};
  return answer.error();
}

Result<void> PostgresSink::send(const Departing& events) {
  if (auto opened = open(); !opened) return opened;
  const std::size_t most = std::clamp<std::size_t>(kMostParameters / columns_.size(), 1, kMostRows);
  const std::span<const Departing::Row> rows(events.rows);
  for (std::size_t begin = 0; begin < rows.size(); begin += most) {
    auto inserted = insert(rows.subspan(begin, std::min(most, rows.size() - begin)));
    if (inserted) continue;
    connection_.reset();
    return inserted;
  }
  return {};
}

}  // namespace gorgo::doors::postgres

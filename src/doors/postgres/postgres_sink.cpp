#include "doors/postgres/postgres_sink.hpp"

#include <algorithm>
#include <utility>

#include "codec/event_line.hpp"
#include "codec/timestamp.hpp"
#include "doors/topic.hpp"

namespace gorgo::doors::postgres {
namespace {

constexpr std::size_t kMostParameters = 60'000;  // of a statement; the protocol has 65535
constexpr std::size_t kMostRows = 1000;

/// No text of the database can hold a zero byte, and JSON there none that is escaped.
void replace_zeros(std::string& text) { std::ranges::replace(text, '\0', ' '); }

/// The attributes of an event as an object of JSON.
std::string attributes_of(Event event) {
  for (Attribute& attribute : event.attributes) {
    if (auto* const text = std::get_if<std::string>(&attribute.value)) replace_zeros(*text);
  }
  std::string line;
  codec::append_event_line(line, event);
  const auto begin = line.find("\"attrs\":");
  if (begin == line.npos) return "{}";
  const auto end = line.rfind('}');
  return line.substr(begin + 8, end - begin - 8);
}

}  // namespace

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
  if (connection_.is_open()) return {};
  auto opened = connection_.open();
  if (opened) opened = look_at_table();
  if (!opened) connection_.close();
  return opened;
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
  replace_zeros(text);
  return text;
}

Result<void> PostgresSink::insert(std::span<const Departing::Row> rows) {
  std::string statement = "insert into " + table_ + " (";
  for (const std::string& column : columns_) {
    statement += (&column == columns_.data() ? "" : ", ") + connection_.quoted(column);
  }
  statement += ") values ";
  Connection::Values values;
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
  return explained(answer.error(), rows);
}

/// Says which event and which column the value belongs to for which the database has refused a
/// statement with these rows.
Error PostgresSink::explained(const Error& error, std::span<const Departing::Row> rows) const {
  std::size_t values = 0;
  for (const Departing::Row& row : rows) {
    for (const std::string& column : columns_) {
      if (!cell(row, column) || ++values != connection_.failed_value()) continue;
      return {"the event " + id_of(row.place) + " does not fit into the column " + column + " of " +
                  error.message,
              "change the column, or what `subscribe` lets through"};
    }
  }
  return error;
}

Result<void> PostgresSink::send(const Departing& events) {
  if (auto opened = open(); !opened) return opened;
  const std::size_t most = std::clamp<std::size_t>(kMostParameters / columns_.size(), 1, kMostRows);
  const std::span<const Departing::Row> rows(events.rows);
  for (std::size_t begin = 0; begin < rows.size(); begin += most) {
    auto inserted = insert(rows.subspan(begin, std::min(most, rows.size() - begin)));
    if (inserted) continue;
    connection_.close();
    return inserted;
  }
  return {};
}

}  // namespace gorgo::doors::postgres

#include "actions/sql.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "codec/timestamp.hpp"
#include "doors/topic.hpp"

namespace gorgo::actions {
namespace {

using Connection = doors::postgres::Connection;
using What = Outcome::What;

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The name in brackets that the text begins with; empty: it begins with none.
std::string_view name_at(std::string_view text) {
  const std::size_t close = text.find('}');
  if (!text.starts_with('{') || close == text.npos) return {};
  const std::string_view name = text.substr(1, close - 1);
  return std::ranges::all_of(name, is_of_name) ? name : std::string_view();
}

/// Unset: the event does not have it.
std::optional<std::string> value_of(const std::string& name, const Order& order) {
  const auto& row = order.rows.front();
  if (name == "key") return order.key;
  if (name == "id") return doors::id_of(row.place);
  if (name == "type") return row.event.type;
  std::string text;
  if (name == "time") {
    codec::append_rfc3339(text, row.event.timestamp.value_or(0));
    return text;
  }
  const auto found = std::ranges::find(row.event.attributes, name, &Attribute::name);
  if (found == row.event.attributes.end()) return std::nullopt;
  text = doors::text_of(found->value);
  std::ranges::replace(text, '\0', ' ');  // which no text of the database can hold
  return text;
}

}  // namespace

SqlStatement::SqlStatement(const std::string& with_names) {
  bool is_literal = false;
  for (std::size_t at = 0; at < with_names.size();) {
    if (with_names[at] == '\'') is_literal = !is_literal;
    const std::string_view rest = std::string_view(with_names).substr(at);
    const std::string name(is_literal ? std::string_view() : name_at(rest));
    if (name.empty()) {
      text += with_names[at++];
      continue;
    }
    // What stands for the same is one parameter, so that it has one type.
    const auto known = std::ranges::find(names, name);
    text += "$" + std::to_string(known - names.begin() + 1);
    if (known == names.end()) names.push_back(name);
    at += name.size() + 2;
  }
}

Sql::Sql(const Settings& settings)
    : statement_(settings.statement), table_(settings.keys_table()), connection_(settings.sink) {}

void Sql::wake() {
  is_woken_ = true;
  connection_.wake();
}

Result<void> Sql::open() {
  if (connection_.is_open()) return {};
  if (auto opened = connection_.open(); !opened) return opened;
  auto known = find_keys();
  if (known) return known;
  connection_.close();
  return known;
}

/// Creates the table where it is missing. Who may not create tables may use one that is there.
Result<void> Sql::find_keys() {
  const std::string about = "the table " + table_;
  const auto found = connection_.run(about, "select to_regclass($1)::text", {table_});
  if (!found) return found.error();
  if (PQgetisnull(found->get(), 0, 0) == 0) {
    keys_ = PQgetvalue(found->get(), 0, 0);
    return {};
  }
  keys_ = connection_.quoted(table_);
  const auto made = connection_.run(about, "create table if not exists " + keys_ +
                                               " (key text primary key, at timestamptz not null "
                                               "default now())");
  if (made) return {};
  return made.error();
}

Result<bool> Sql::execute(const Order& order) {
  auto begun = connection_.run("a transaction", "begin");
  if (!begun) return begun.error();
  const auto noted = connection_.run(
      "the table " + table_, "insert into " + keys_ + " (key) values ($1) on conflict do nothing",
      {order.key});
  if (!noted) return noted.error();
  if (std::string_view(PQcmdTuples(noted->get())) == "0") return false;
  Connection::Values values;
  for (const std::string& name : statement_.names) values.push_back(value_of(name, order));
  const auto done = connection_.run("the statement", statement_.text, values);
  if (!done) return done.error();
  return true;
}

/// The classes of SQLSTATE that say that these values will never do: they do not fit their types,
/// or violate a constraint.
Outcome Sql::outcome_of(const Error& problem) const {
  const std::string_view state = connection_.state();
  const bool is_final = state.starts_with("22") || state.starts_with("23");
  return {is_final ? What::refused : What::failed, problem.message};
}

Outcome Sql::carry_out(const Order& order) {
  if (auto opened = open(); !opened) return {What::failed, opened.error().message};
  const auto executed = execute(order);
  if (!executed) {
    const Outcome outcome = outcome_of(executed.error());
    if (connection_.is_open() && !connection_.run("a transaction", "rollback")) connection_.close();
    return outcome;
  }
  const auto ended = connection_.run("a transaction", *executed ? "commit" : "rollback");
  if (ended) return {};
  const Outcome outcome = outcome_of(ended.error());
  connection_.close();
  return outcome;
}

std::vector<Outcome> Sql::attempt(std::span<const Order* const> orders) {
  std::vector<Outcome> outcomes;
  for (const Order* order : orders) {
    outcomes.push_back(is_woken_ ? Outcome{What::failed, "the server ends"} : carry_out(*order));
  }
  return outcomes;
}

}  // namespace gorgo::actions

#include "doors/kind.hpp"
#include "doors/postgres/postgres_sink.hpp"

namespace gorgo::doors {
namespace {

Result<void> check_postgres(const Settings& settings) {
  if (settings.table.empty()) return Error{"table: no table is named", "table = \"fires\""};
  char* why = nullptr;
  PQconninfoOption* const options = PQconninfoParse(settings.database.c_str(), &why);
  const std::string problem = why == nullptr ? "" : why;
  PQconninfoFree(options);
  PQfreemem(why);
  if (!settings.database.empty() && options != nullptr) return {};
  return Error{"database: " + (problem.empty() ? "none is named" : problem),
               "database = \"host=127.0.0.1 dbname=plant user=gorgo\""};
}

}  // namespace

Kind postgres_kind() {
  return {.name = "postgres",
          .keys = {key("database", Way::out, &Settings::database),
                   key("table", Way::out, &Settings::table),
                   key("password_file", Way::out, &Settings::password_file),
                   key("ca", Way::out, &Settings::ca)},
          .target = &Settings::table,
          .check = check_postgres,
          .make_sink = [](const std::string&,
                          const Settings& settings) -> Result<std::unique_ptr<Sink>> {
            return {std::in_place, std::make_unique<postgres::PostgresSink>(settings)};
          }};
}

}  // namespace gorgo::doors

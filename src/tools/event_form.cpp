#include "tools/event_form.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "tools/option_checks.hpp"

namespace gorgo::tools {
namespace {

Result<std::map<std::string, std::string>> renamed(const std::vector<std::string>& pairs) {
  std::map<std::string, std::string> names;
  for (const std::string& pair : pairs) {
    const auto middle = pair.find('=');
    if (middle == pair.npos || middle == 0 || middle + 1 == pair.size()) {
      return Error{"--rename: '" + pair + "' is not COLUMN=ATTRIBUTE", ""};
    }
    names[pair.substr(0, middle)] = pair.substr(middle + 1);
  }
  return names;
}

}  // namespace

void add_event_form(CLI::App* command, EventForm& form, const std::string& names) {
  constexpr const char* kGroup = "Events in files";
  command
      ->add_option("--input-format" + (names.empty() ? "" : "," + names), form.format,
                   "Event lines, or CSV with a header")
      ->check(one_of({"ndjson", "csv"}))
      ->capture_default_str()
      ->group(kGroup);
  command->add_option("--type", form.text.type, "CSV: the type of all rows")->group(kGroup);
  command
      ->add_option("--type-column", form.text.type_column,
                   "CSV: the column that says the type of a row")
      ->capture_default_str()
      ->group(kGroup);
  command->add_option("--time-column", form.text.time_column, "CSV: the column with the times")
      ->option_text("COLUMN=ts")
      ->group(kGroup);
  command
      ->add_option(
          "--time-format", form.text.time_format,
          "CSV: of the times: auto (milliseconds since 1970, or RFC 3339), s, ms, us or ns\n"
          "since 1970, 'date time' (2024-05-01 12:00:00.5), or a pattern of strptime")
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_option("--tz", form.text.zone,
                   "CSV: the time zone of times without an offset: Europe/Rome")
      ->option_text("ZONE=UTC")
      ->group(kGroup);
  command->add_option("--separator", form.text.separator, "CSV: what divides the cells; or tab")
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_option("--rename", form.renamed,
                   "CSV: columns that are attributes of other names, separated by commas")
      ->delimiter(',')
      ->option_text("COLUMN=ATTRIBUTE,...")
      ->group(kGroup);
}

Result<std::unique_ptr<codec::EventReader>> make_reader(const EventForm& form,
                                                        const Schema* schema) {
  if (form.format != "csv") {
    const codec::TextForm plain, &given = form.text;
    const bool csv_only =
        given.type != plain.type || given.type_column != plain.type_column ||
        given.separator != plain.separator || given.time_column != plain.time_column ||
        given.time_format != plain.time_format || given.zone != plain.zone || !form.renamed.empty();
    if (!csv_only) return {std::in_place, codec::make_line_reader()};
    return Error{"the options of CSV files say nothing about event lines",
                 "add --input-format csv"};
  }
  codec::TextForm text = form.text;
  auto names = renamed(form.renamed);
  if (!names) return names.error();
  text.rename = *std::move(names);
  if (text.time_format == codec::TextForm().time_format && !text.zone.empty()) {
    return Error{
        "--tz needs a --time-format: times are milliseconds since 1970 or RFC 3339 without it",
        "--time-format 'date time' reads 2024-05-01 12:00:00; or write a pattern of strptime"};
  }
  const auto separator = codec::separator_of(text);
  if (!separator) return Error{"--separator: " + separator.error().message, separator.error().hint};
  const auto times = codec::times_of(text);
  if (!times) return Error{"--time-format, --tz: " + times.error().message, times.error().hint};
  return {std::in_place, codec::make_csv_reader(codec::csv_form(text), schema)};
}

}  // namespace gorgo::tools

#include "tools/event_form.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace gorgo::tools {
namespace {

Result<char> separator_of(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  const bool usable = text.size() == 1 && text != "\"" && text != "\r" && text != "\n";
  if (usable) return text.front();
  return Error{"--separator: '" + text + "' is no separator",
               "one character other than a quote, or tab"};
}

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
      ->check(CLI::IsMember({"ndjson", "csv"}))
      ->capture_default_str()
      ->group(kGroup);
  command->add_option("--type", form.type, "CSV: the type of all rows")->group(kGroup);
  command
      ->add_option("--type-column", form.type_column, "CSV: the column that says the type of a row")
      ->capture_default_str()
      ->group(kGroup);
  command->add_option("--time-column", form.time_column, "CSV: the column with the times")
      ->option_text("COLUMN=ts")
      ->group(kGroup);
  command
      ->add_option(
          "--time-format", form.time_format,
          "CSV: of the times: auto (milliseconds since 1970, or RFC 3339), s, ms, us or ns\n"
          "since 1970, 'date time' (2024-05-01 12:00:00.5), or a pattern of strptime")
      ->capture_default_str()
      ->group(kGroup);
  command
      ->add_option("--tz", form.zone, "CSV: the time zone of times without an offset: Europe/Rome")
      ->option_text("ZONE=UTC")
      ->group(kGroup);
  command->add_option("--separator", form.separator, "CSV: what divides the cells; or tab")
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
    const EventForm plain{.format = form.format};
    const bool csv_only = form.type != plain.type || form.time_column != plain.time_column ||
                          form.time_format != plain.time_format || form.zone != plain.zone ||
                          !form.renamed.empty();
    if (!csv_only) return {std::in_place, codec::make_line_reader()};
    return Error{"the options of CSV files say nothing about event lines",
                 "add --input-format csv"};
  }
  const auto separator = separator_of(form.separator);
  if (!separator) return separator.error();
  auto names = renamed(form.renamed);
  if (!names) return names.error();
  if (form.time_format == EventForm().time_format && !form.zone.empty()) {
    return Error{
        "--tz needs a --time-format: times are milliseconds since 1970 or RFC 3339 without it",
        "--time-format 'date time' reads 2024-05-01 12:00:00; or write a pattern of strptime"};
  }
  const auto times = codec::TimeFormat::make(form.time_format, form.zone);
  if (!times) return Error{"--time-format, --tz: " + times.error().message, times.error().hint};
  return {std::in_place, codec::make_csv_reader({.type = form.type,
                                                 .type_column = form.type_column,
                                                 .time_column = form.time_column,
                                                 .times = *times,
                                                 .separator = *separator,
                                                 .renamed = *std::move(names)},
                                                schema)};
}

}  // namespace gorgo::tools

#pragma once

#include <map>
#include <string>

#include "codec/event_text.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::codec {

/// How events are written down in a text, in the words in which users say it: the options of
/// commands and the keys of doors.
struct TextForm {
  std::string type;  ///< of all events; empty: a column or member says it
  std::string type_column = "type";
  std::string time_column;
  std::string time_format = "auto";
  std::string zone;
  std::string separator = ",";                ///< of CSV; or "tab"
  std::map<std::string, std::string> rename;  ///< by column or member, the attribute
};

/// What divides the cells of CSV.
Result<char> separator_of(const TextForm& form);
Result<TimeFormat> times_of(const TextForm& form);
/// Precondition: the two above found nothing wrong.
CsvForm csv_form(const TextForm& form);

}  // namespace gorgo::codec

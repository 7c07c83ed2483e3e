#include "codec/text_form.hpp"

namespace gorgo::codec {

Result<char> separator_of(const TextForm& form) {
  const std::string& text = form.separator;
  if (text == "tab" || text == "\\t") return '\t';
  const bool divides = text.size() == 1 && text != "\"" && text != "\r" && text != "\n";
  if (divides) return text.front();
  return Error{"'" + text + "' is no separator", "one character other than a quote, or tab"};
}

Result<TimeFormat> times_of(const TextForm& form) {
  return TimeFormat::make(form.time_format, form.zone);
}

CsvForm csv_form(const TextForm& form) {
  return {.type = form.type,
          .type_column = form.type_column,
          .time_column = form.time_column,
          .times = *times_of(form),
          .separator = *separator_of(form),
          .renamed = form.rename};
}

}  // namespace gorgo::codec

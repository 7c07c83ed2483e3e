#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codec/event_text.hpp"
#include "codec/text_form.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/schema.hpp"

namespace CLI {
class App;
}

namespace gorgo::tools {

/// How the events of a file are written down, as the command line says it.
struct EventForm {
  std::string format = "ndjson";     ///< or "csv"
  codec::TextForm text;              ///< without `rename`
  std::vector<std::string> renamed;  ///< "COLUMN=ATTRIBUTE"
};

/// Gives a command `--input-format` and the options of CSV files. `names`: other names of the first
/// of them, such as "--format". `form` outlives the command.
void add_event_form(CLI::App* command, EventForm& form, const std::string& names = "");

/// A reader of such a file. `schema`: of the cells, may be null. An error names the option that is
/// wrong.
Result<std::unique_ptr<codec::EventReader>> make_reader(const EventForm& form,
                                                        const Schema* schema);

}  // namespace gorgo::tools

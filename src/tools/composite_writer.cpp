#include "tools/composite_writer.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "gorgo/diagnostics.hpp"

#include "tools/option_checks.hpp"

namespace gorgo::tools {
namespace {

/// The types whose composites are printed, in the order of the rules; some stand there twice.
std::vector<const EventType*> wanted_types(const CompositeForm& form, const Processor& processor) {
  std::vector<const EventType*> types;
  for (const auto& rule : processor.rules()) {
    const EventType* const type = processor.schema().find(rule.type);
    const bool is_named = std::ranges::find(form.only, rule.type) != form.only.end();
    if (form.only.empty() ? !type->internal() : is_named) types.push_back(type);
  }
  return types;
}

/// Every attribute of the types that are printed, once.
std::vector<std::string> composite_columns(const CompositeForm& form, const Processor& processor) {
  std::vector<std::string> columns;
  for (const EventType* type : wanted_types(form, processor)) {
    for (const auto& attribute : type->attributes) {
      if (std::ranges::find(columns, attribute.name) == columns.end()) {
        columns.push_back(attribute.name);
      }
    }
  }
  return columns;
}

/// In CSV, an attribute and what each event has must not be columns of one name.
Result<void> check_columns(const CompositeForm& form, const Processor& processor) {
  for (const EventType* type : wanted_types(form, processor)) {
    for (const std::string_view column : {"type", "ts"}) {
      if (!type->find(column)) continue;
      return Error{"CSV has a column '" + std::string(column) + "' for all events, and '" +
                       type->name + "' has an attribute of this name",
                   "write --output-format ndjson, or leave the type out by --only"};
    }
  }
  return {};
}

std::unique_ptr<codec::EventWriter> writer_of(const CompositeForm& form,
                                              const Processor& processor) {
  const auto times =
      form.times == "rfc3339" ? codec::TimeStyle::rfc3339 : codec::TimeStyle::milliseconds;
  if (form.format != "csv") return codec::make_line_writer(times);
  return codec::make_csv_writer(composite_columns(form, processor), times);
}

}  // namespace

void add_composite_form(CLI::App* command, CompositeForm& form) {
  auto* format =
      command->add_option("--output-format", form.format)->check(one_of({"ndjson", "csv"}));
  if (form.format.empty()) {
    format->description("Of the composites; else as the events");
  } else {
    format->description("Of the composites")->capture_default_str();
  }
  command
      ->add_option("--output-times", form.times, "Times of composites: ms since 1970, or rfc3339")
      ->check(one_of({"ms", "rfc3339"}))
      ->capture_default_str();
  command
      ->add_option("--only", form.only,
                   "Print composites of these types, separated by commas, and no others; else of "
                   "all types that are not internal")
      ->delimiter(',')
      ->option_text("TYPE,...");
}

Result<void> check(const CompositeForm& form, const Processor& processor) {
  std::vector<std::string> defined;
  for (const auto& rule : processor.rules()) defined.push_back(rule.type);
  for (const std::string& type : form.only) {
    if (std::ranges::find(defined, type) != defined.end()) continue;
    const auto closest = closest_name(type, defined);
    return Error{"--only: no rule defines '" + type + "'",
                 closest.empty() ? "" : "did you mean '" + std::string(closest) + "'?"};
  }
  return form.format == "csv" ? check_columns(form, processor) : Result<void>();
}

CompositeWriter::CompositeWriter(const CompositeForm& form, const Processor& processor)
    : only_(form.only), writer_(writer_of(form, processor)) {}

bool CompositeWriter::is_wanted(const OutputBatch& batch, const OutputBatch::Row& row) const {
  if (row.rule == OutputBatch::kPrimitive) return false;
  if (only_.empty()) return !batch.is_internal(row);
  return std::ranges::find(only_, batch.type_name(row)) != only_.end();
}

void CompositeWriter::write(std::string& out, const OutputBatch& batch,
                            const OutputBatch::Row& row) {
  writer_->begin(out, batch.type_name(row), row.timestamp);
  batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
    writer_->attribute(out, name, value);
  });
  writer_->end(out);
}

}  // namespace gorgo::tools

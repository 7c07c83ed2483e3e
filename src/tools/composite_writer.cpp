#include "tools/composite_writer.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {
namespace {

/// Every attribute of the types that the rules define, once, in the order of the rules.
std::vector<std::string> composite_columns(const Processor& processor) {
  std::vector<std::string> columns;
  for (const auto& rule : processor.rules()) {
    for (const auto& attribute : processor.schema().find(rule.type)->attributes) {
      if (std::ranges::find(columns, attribute.name) == columns.end()) {
        columns.push_back(attribute.name);
      }
    }
  }
  return columns;
}

std::unique_ptr<codec::EventWriter> writer_of(const CompositeForm& form,
                                              const Processor& processor) {
  const auto times =
      form.times == "rfc3339" ? codec::TimeStyle::rfc3339 : codec::TimeStyle::milliseconds;
  if (form.format != "csv") return codec::make_line_writer(times);
  return codec::make_csv_writer(composite_columns(processor), times);
}

}  // namespace

void add_composite_form(CLI::App* command, CompositeForm& form) {
  auto* format =
      command->add_option("--output-format", form.format)->check(CLI::IsMember({"ndjson", "csv"}));
  if (form.format.empty()) {
    format->description("Of the composites; else as the events");
  } else {
    format->description("Of the composites")->capture_default_str();
  }
  command
      ->add_option("--output-times", form.times, "Times of composites: ms since 1970, or rfc3339")
      ->check(CLI::IsMember({"ms", "rfc3339"}))
      ->capture_default_str();
  command
      ->add_option("--only", form.only,
                   "Print composites of these types, separated by commas, and no others; else of "
                   "all types that are not internal")
      ->delimiter(',')
      ->option_text("TYPE,...");
}

Result<void> check_only(const CompositeForm& form, const Processor& processor) {
  std::vector<std::string> defined;
  for (const auto& rule : processor.rules()) defined.push_back(rule.type);
  for (const std::string& type : form.only) {
    if (std::ranges::find(defined, type) != defined.end()) continue;
    const auto closest = closest_name(type, defined);
    return Error{"--only: no rule defines '" + type + "'",
                 closest.empty() ? "" : "did you mean '" + std::string(closest) + "'?"};
  }
  return {};
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

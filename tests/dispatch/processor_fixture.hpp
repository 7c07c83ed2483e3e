#pragma once

#include "gorgo/processor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gorgo {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

inline constexpr Timestamp kMillisecond = 1'000'000;

inline constexpr const char* kFire = R"(
event Temp(area: string, value: float);
event Smoke(area: string);
rule fire:
define Fire(area: string, value: float)
from Smoke(area = $a) and last Temp(area = $a, value > 45) within 5 min from Smoke
where area = Smoke.area, value = Temp.value;
)";

inline Event temp(Timestamp ms, const char* area, double value) {
  return {.type = "Temp",
          .timestamp = ms * kMillisecond,
          .attributes = {{"area", std::string(area)}, {"value", value}}};
}

inline Event smoke(Timestamp ms, const char* area) {
  return {
      .type = "Smoke", .timestamp = ms * kMillisecond, .attributes = {{"area", std::string(area)}}};
}

/// `A@1` with one int attribute `n`.
inline Event counted(const char* type, Timestamp ms, std::int64_t n) {
  return {.type = type, .timestamp = ms * kMillisecond, .attributes = {{"n", n}}};
}

/// A processor, and what comes out of it as lines. The fixtures of the tests derive from it.
class ProcessorTest : public ::testing::Test {
 protected:
  void deploy(const std::string& text, bool replace = false) {
    const Diagnostics diagnostics =
        processor.deploy("rules/test.tesla", text, {.replace = replace});
    ASSERT_FALSE(diagnostics.failed()) << diagnostics.render();
  }

  std::string refusal(const std::string& text, bool replace = false) {
    return processor.deploy("rules/test.tesla", text, {.replace = replace}).render();
  }

  void append(const Event& event) {
    const auto accepted = processor.append(event);
    ASSERT_FALSE(accepted.has_error()) << accepted.error().to_string();
  }

  std::string refused(const Event& event) {
    const auto accepted = processor.append(event);
    return accepted.has_error() ? accepted.error().to_string() : "";
  }

  static std::string text_of(const Datum& value) {
    switch (value.tag) {
      case Datum::Tag::string:
        return std::string(value.text());
      case Datum::Tag::integer:
        return std::to_string(value.integer);
      case Datum::Tag::boolean:
        return value.boolean ? "true" : "false";
      default:
        return std::to_string(value.floating);
    }
  }

  /// "root.ordinal Type(values)"
  static std::string line(const OutputBatch& batch, const OutputBatch::Row& row) {
    std::string text = std::to_string(row.place.root) + "." + std::to_string(row.place.ordinal) +
                       " " + std::string(batch.type_name(row));
    batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
      text += " " + std::string(name) + "=" + text_of(value);
    });
    return text;
  }

  /// Lines of everything that comes out.
  std::vector<std::string> process() {
    std::vector<std::string> lines;
    processor.process([&](const OutputBatch& batch) {
      ++batches;
      for (const auto& row : batch.rows) lines.push_back(line(batch, row));
    });
    return lines;
  }

  Processor processor;
  int batches = 0;
};

}  // namespace gorgo

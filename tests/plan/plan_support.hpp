#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "language/language.hpp"
#include "plan/plan.hpp"

namespace gorgo::plan {

/// The plans of a text that must be free of errors.
struct Planned {
  explicit Planned(const std::string& text, const Schema& known = {})
      : source{"plant.tesla", text} {
    language::BoundFile bound = language::compile(source, known);
    EXPECT_FALSE(bound.diagnostics.failed()) << bound.diagnostics.render();
    schema = std::move(bound.schema);
    for (Rule& rule : bound.rules) {
      owned.push_back(std::make_unique<const Plan>(make_plan(std::move(rule))));
      plans.push_back(owned.back().get());
    }
  }

  language::Source source;
  Schema schema;
  std::vector<std::unique_ptr<const Plan>> owned;
  std::vector<const Plan*> plans;
};

}  // namespace gorgo::plan

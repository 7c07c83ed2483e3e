#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../plan/plan_support.hpp"
#include "cluster/partition_of.hpp"
#include "cluster/plan.hpp"
#include "codec/event_notation.hpp"
#include "doors/door.hpp"
#include "gorgo/processor.hpp"

// What rules of `KeyedRules` make of events, so that it can be compared.
namespace gorgo::cluster {

/// By type and by both attributes that are keys, so that those of one list come of one partition.
using Lines = std::map<std::string, std::vector<std::string>>;

inline void note(const Event& event, Lines& lines) {
  std::string key = event.type;
  for (const Attribute& attribute : event.attributes) {
    if (attribute.name != "k" && attribute.name != "g") continue;
    key += " " + key_text(to_datum(attribute.value));
  }
  lines[key].push_back(codec::notation_of(event));
}

inline std::size_t count(const Lines& lines) {
  std::size_t all = 0;
  for (const auto& [key, some] : lines) all += some.size();
  return all;
}

/// What one processor makes of the events.
inline Lines on_one(const std::string& text, const std::vector<doors::Departing::Row>& rows) {
  Processor processor;
  EXPECT_FALSE(processor.deploy("rules.tesla", text).failed());
  Lines lines;
  for (const auto& row : rows) {
    EXPECT_TRUE(processor.append(row.event));
    processor.process([&](const OutputBatch& batch) {
      for (const auto& out : batch.rows) {
        if (out.rule != OutputBatch::kPrimitive) note(batch.to_event(out), lines);
      }
    });
  }
  return lines;
}

/// Sorts what rules of different families make, which have no order.
inline void sort_mixed(const ClusterPlan& plan, const plan::Planned& planned, Lines& lines) {
  std::map<std::string, std::set<std::string>> families;
  for (std::size_t i = 0; i < planned.plans.size(); ++i) {
    families[planned.schema.at(planned.plans[i]->rule.type).name].insert(plan.rules[i].family);
  }
  for (auto& [key, list] : lines) {
    if (families[key.substr(0, key.find(' '))].size() > 1) std::ranges::sort(list);
  }
}

}  // namespace gorgo::cluster

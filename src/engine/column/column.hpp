#pragma once

#include "engine/cpu_engine.hpp"

namespace gorgo::engine {

/// Column-based delayed processing (CDP: Cugola and Margara, "Low latency complex event processing
/// on parallel hardware", JPDC 2012, section 4.2): when a terminator arrives, its sequences are
/// searched backwards in the columns, depth first. Equality parameters are looked up in hash
/// indexes, what has none is found by scanning the window.
class ColumnEngine final : public CpuEngine {
 public:
  std::string_view name() const override { return "column"; }
  bool divides_terminators() const override { return true; }
  std::vector<std::string> description() const override {
    return {"looks equality parameters up in hash indexes, scans where there are none"};
  }
  std::unique_ptr<CpuEvaluator> make(std::shared_ptr<const plan::Plan> plan,
                                     history::History& history) const override;
};

/// The column engine without indexes: it scans every window, as the paper does.
class ColumnScanEngine final : public CpuEngine {
 public:
  std::string_view name() const override { return "column-scan"; }
  bool divides_terminators() const override { return true; }
  std::vector<std::string> description() const override {
    return {"column without indexes: scans every window, the baseline of the benches"};
  }
  std::unique_ptr<CpuEvaluator> make(std::shared_ptr<const plan::Plan> plan,
                                     history::History& history) const override;
};

}  // namespace gorgo::engine

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "generator.hpp"
#include "gorgo/processor.hpp"
#include "server/subscriptions/filter.hpp"

namespace gorgo::testing {
namespace {

/// A rule and a subscription with one condition, which two pieces of code decide.
class Audience {
 public:
  Audience(const std::string& type, const std::string& condition) {
    deploy("types.tesla", type_rules());
    deploy("rule.tesla", "define Match() from " + type + "(" + condition + ");");
    auto parsed = server::Filter::parse(type + "(" + condition + ")", processor_.schema());
    if (parsed.diagnostics.failed()) RC_FAIL(parsed.diagnostics.render());
    filter_ = std::move(parsed.filter);
  }

  void take(const Event& event) {
    if (event.type.empty()) return;
    if (const auto taken = processor_.append(event); taken.has_error()) {
      RC_FAIL(taken.error().to_string());
    }
  }

  /// Compares what the subscription lets pass with what the rule found.
  std::size_t compare() {
    std::vector<std::uint64_t> passed, found;
    processor_.finish([&](const OutputBatch& batch) {
      for (const auto& row : batch.rows) {
        const std::string_view type = batch.type_name(row);
        if (type == "Match") {
          found.push_back(row.place.root);
        } else if (type == filter_->type() && filter_->matches(batch, row)) {
          passed.push_back(row.place.root);
        }
      }
    });
    RC_ASSERT(passed == found);
    return found.size();
  }

 private:
  Processor processor_;
  std::optional<server::Filter> filter_;

  void deploy(const std::string& name, const std::string& text) {
    const Diagnostics diagnostics = processor_.deploy(name, text);
    if (diagnostics.failed()) RC_FAIL(diagnostics.render());
  }
};

RC_GTEST_PROP(Subscriptions, LetPassWhatARuleWouldFind, ()) {
  const auto type = *rc::gen::element<std::string>("A", "U");
  const std::string condition = random_condition();
  RC_LOG() << type << "(" << condition << ")\n";
  Audience audience(type, condition);
  for (const Event& event : random_stream()) audience.take(event);
  RC_CLASSIFY(audience.compare() > 0, "some events");
}

}  // namespace
}  // namespace gorgo::testing

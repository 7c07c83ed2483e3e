#include "tools/workshop.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "tools/lsp/session.hpp"
#include "tools/test_case.hpp"
#include "tools/test_file.hpp"
#include "tools/trial_run.hpp"

namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;

/// The types as a rule file declares them.
std::string declarations_of(const server::Workshop::KnownTypes& types) {
  std::string text;
  for (const auto& [name, attributes] : types) {
    text += "event " + name + "(";
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      const AttributeType& attribute = attributes[i];
      text += (i == 0 ? "" : ", ") + attribute.name + ": " + std::string(to_string(attribute.type));
    }
    text += ");\n";
  }
  return text;
}

class EditorConversation : public server::Workshop::Conversation {
 public:
  explicit EditorConversation(lsp::Workspace workspace) : session_(std::move(workspace)) {}

  std::vector<std::string> handle(std::string_view message) override {
    return session_.handle(message);
  }
  bool is_over() const override { return session_.ended(); }

 private:
  lsp::Session session_;
};

/// The engines that need no device, which the server's rules may be using.
std::vector<std::string> engines_for_tests() {
  auto names = engine_names();
  std::erase_if(names, [](const auto& name) {
    const engine::Engine* engine = engine::find_engine(name);
    return engine != nullptr && engine->is_device();
  });
  return names;
}

/// What went wrong in a case, and what the rules did where composites are missing or too many.
std::string message_of(const TestCase& test, const std::string& file,
                       const std::optional<CaseFailure>& failure) {
  if (!failure) return "";
  const bool differ = failure->composites && test.expects;
  return failure->message + (differ ? explain_failure(test, file, *failure) : "");
}

class LocalWorkshop : public server::Workshop {
 public:
  std::unique_ptr<Conversation> converse(const KnownTypes& types) override {
    lsp::Workspace workspace;
    workspace.add_common("gorgo:types", declarations_of(types));
    return std::make_unique<EditorConversation>(std::move(workspace));
  }

  std::string try_rules(const Trial& trial, const std::stop_token& stop) override {
    return TrialRun(trial, stop).report();
  }

  std::string run_tests(const std::string& tests, const std::string& rules,
                        const std::stop_token& stop) override {
    const std::string name = "tests";
    const auto cases = parse_test_file(
        name, tests, [&](const std::string&) { return Result<std::string>(std::in_place, rules); });
    Json list = Json::array();
    if (!cases) return Json{{"error", cases.error().to_string()}, {"cases", list}}.dump();
    for (const TestCase& test : *cases) {
      const auto failure = run_case(test, name, engines_for_tests(), stop);
      const bool stopped = stop.stop_requested();
      list.push_back({{"name", test.name},
                      {"line", test.line},
                      {"passed", !failure && !stopped},
                      {"message", stopped ? "it took too long and was given up"
                                          : message_of(test, name, failure)}});
      if (stopped) break;
    }
    const Json report = {{"error", ""}, {"left_out", cases->size() - list.size()}, {"cases", list}};
    return report.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
};

}  // namespace

std::shared_ptr<server::Workshop> make_workshop() { return std::make_shared<LocalWorkshop>(); }

}  // namespace gorgo::tools

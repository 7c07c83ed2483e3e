#include "tools/test_report.hpp"

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace gorgo::tools {
namespace {

using Tree = boost::property_tree::ptree;

struct Suite {
  Tree cases;
  std::size_t tests = 0, failures = 0, errors = 0;
  double seconds = 0;
};

/// A case that says where it stands, still without what became of it.
Tree test_case(const std::string& file, const std::string& name) {
  Tree test;
  test.put("<xmlattr>.name", name);
  test.put("<xmlattr>.classname", file);
  test.put("<xmlattr>.file", file);
  return test;
}

void add_case(Suite& suite, Tree test) {
  ++suite.tests;
  suite.cases.push_back({"testcase", std::move(test)});
}

void enter(std::map<std::string, Suite>& suites, const TestReport::Result& result) {
  Suite& suite = suites[result.file];
  Tree test = test_case(result.file, result.name);
  test.put("<xmlattr>.line", result.line);
  test.put("<xmlattr>.time", result.seconds);
  if (!result.failure.empty()) test.put("failure", result.failure);
  suite.failures += result.failure.empty() ? 0 : 1;
  suite.seconds += result.seconds;
  add_case(suite, std::move(test));
}

void enter(std::map<std::string, Suite>& suites, const TestReport::Problem& problem) {
  const std::string& name = problem.file.empty() ? "gorgo test" : problem.file;
  Suite& suite = suites[name];
  Tree test = test_case(name, name);
  test.put("error", problem.message);
  ++suite.errors;
  add_case(suite, std::move(test));
}

Tree tree_of(const std::string& file, const Suite& suite) {
  Tree tree;
  tree.put("<xmlattr>.name", file);
  tree.put("<xmlattr>.tests", suite.tests);
  tree.put("<xmlattr>.failures", suite.failures);
  tree.put("<xmlattr>.errors", suite.errors);
  tree.put("<xmlattr>.time", suite.seconds);
  tree.insert(tree.end(), suite.cases.begin(), suite.cases.end());
  return tree;
}

}  // namespace

std::size_t TestReport::failures() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      results_, [](const Result& result) { return !result.failure.empty(); }));
}

std::string TestReport::as_json() const {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  for (const Result& result : results_) {
    nlohmann::ordered_json entry = {{"file", result.file},
                                    {"line", result.line},
                                    {"name", result.name},
                                    {"passed", result.failure.empty()},
                                    {"seconds", result.seconds}};
    if (!result.failure.empty()) entry["message"] = result.failure;
    cases.push_back(std::move(entry));
  }
  nlohmann::ordered_json errors = nlohmann::ordered_json::array();
  for (const Problem& problem : problems_) {
    errors.push_back({{"file", problem.file}, {"message", problem.message}});
  }
  const nlohmann::ordered_json report = {{"passed", results_.size() - failures()},
                                         {"failed", failures() + problems_.size()},
                                         {"errors", errors},
                                         {"cases", cases}};
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string TestReport::as_junit() const {
  std::map<std::string, Suite> suites;
  for (const Result& result : results_) enter(suites, result);
  for (const Problem& problem : problems_) enter(suites, problem);
  Tree list;
  list.put("<xmlattr>.tests", results_.size() + problems_.size());
  list.put("<xmlattr>.failures", failures());
  list.put("<xmlattr>.errors", problems_.size());
  for (const auto& [file, suite] : suites) list.push_back({"testsuite", tree_of(file, suite)});
  Tree root;
  root.push_back({"testsuites", std::move(list)});
  std::ostringstream out;
  boost::property_tree::write_xml(out, root);
  return out.str();
}

}  // namespace gorgo::tools

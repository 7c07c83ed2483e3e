#include "tools/test_report.hpp"

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace gorgo::tools {

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
  const nlohmann::ordered_json report = {
      {"passed", results_.size() - failures()}, {"failed", failures()}, {"cases", cases}};
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string TestReport::as_junit() const {
  using Tree = boost::property_tree::ptree;
  struct Suite {
    Tree cases;
    std::size_t tests = 0, failures = 0;
    double seconds = 0;
  };
  std::map<std::string, Suite> suites;
  for (const Result& result : results_) {
    Suite& suite = suites[result.file];
    Tree test;
    test.put("<xmlattr>.name", result.name);
    test.put("<xmlattr>.classname", result.file);
    test.put("<xmlattr>.file", result.file);
    test.put("<xmlattr>.line", result.line);
    test.put("<xmlattr>.time", result.seconds);
    if (!result.failure.empty()) test.put("failure", result.failure);
    ++suite.tests;
    suite.failures += result.failure.empty() ? 0 : 1;
    suite.seconds += result.seconds;
    suite.cases.push_back({"testcase", std::move(test)});
  }
  Tree list;
  list.put("<xmlattr>.tests", results_.size());
  list.put("<xmlattr>.failures", failures());
  for (auto& [file, suite] : suites) {
    Tree tree;
    tree.put("<xmlattr>.name", file);
    tree.put("<xmlattr>.tests", suite.tests);
    tree.put("<xmlattr>.failures", suite.failures);
    tree.put("<xmlattr>.time", suite.seconds);
    tree.insert(tree.end(), suite.cases.begin(), suite.cases.end());
    list.push_back({"testsuite", std::move(tree)});
  }
  Tree root;
  root.push_back({"testsuites", std::move(list)});
  std::ostringstream out;
  boost::property_tree::write_xml(out, root);
  return out.str();
}

}  // namespace gorgo::tools

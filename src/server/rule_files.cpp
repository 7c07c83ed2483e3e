#include "server/rule_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "language/language.hpp"
#include "language/names.hpp"

namespace gorgo::server {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_text(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) return Error{"cannot read rule file " + file, "is it there?"};
  if (fs::is_directory(file)) return Error{"rule file " + file + " is a directory", ""};
  return Result<std::string>(boost::system::in_place_value, std::move(text));
}

/// The full names of the rules in a text that compiles.
std::vector<std::string> rule_names(const language::Source& source) {
  return language::rule_names(language::parse(source).file, source);
}

}  // namespace

std::vector<std::string> RuleFiles::files(Outcome& outcome) const {
  std::vector<std::string> files;
  for (const std::string& path : paths_) {
    std::error_code failure;
    if (!fs::is_directory(path, failure)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path, failure)) {
      if (entry.path().extension() == ".tesla") found.push_back(entry.path().string());
    }
    if (failure) outcome.errors.push_back({"cannot list " + path + ": " + failure.message(), ""});
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

void RuleFiles::remove_rules(Processor& processor, const std::vector<std::string>& rules,
                             const std::vector<std::string>& except, Outcome& outcome) {
  for (const std::string& rule : rules) {
    if (std::ranges::find(except, rule) != except.end()) continue;
    if (const auto removed = processor.remove(rule); !removed) {
      outcome.errors.push_back(removed.error());
    } else {
      ++outcome.removed;
    }
  }
}

void RuleFiles::load_file(Processor& processor, const std::string& file, Outcome& outcome) {
  const auto text = read_text(file);
  if (!text) {
    outcome.errors.push_back(text.error());
    return;
  }
  const bool again = deployed_.contains(file);
  auto diagnostics = processor.deploy(file, *text, {.replace = again});
  const bool failed = diagnostics.failed();
  std::ranges::move(diagnostics.list, std::back_inserter(outcome.diagnostics.list));
  if (failed) return;
  ++outcome.files;
  auto now = rule_names({file, *text});
  remove_rules(processor, deployed_[file], now, outcome);
  deployed_[file] = std::move(now);
}

RuleFiles::Outcome RuleFiles::load(Processor& processor) {
  Outcome outcome;
  const auto present = files(outcome);
  for (const std::string& file : present) load_file(processor, file, outcome);
  for (auto it = deployed_.begin(); it != deployed_.end();) {
    if (std::ranges::find(present, it->first) != present.end()) {
      ++it;
      continue;
    }
    remove_rules(processor, it->second, {}, outcome);
    it = deployed_.erase(it);
  }
  return outcome;
}

}  // namespace gorgo::server

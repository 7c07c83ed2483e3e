#include "server/rule_files.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>

#include "base/file.hpp"
#include "language/language.hpp"
#include "language/names.hpp"

namespace gorgo::server {
namespace {

namespace fs = std::filesystem;

/// The full names of the rules in a text, as far as it is well formed.
std::vector<std::string> rule_names(const language::Source& source) {
  return language::rule_names(language::parse(source).file, source);
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

/// The rule files in a folder, sorted by name.
Result<std::vector<std::string>> list_folder(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    const fs::path& file = it->path();
    const bool hidden = file.filename().native().starts_with('.');
    if (file.extension() == ".tesla" && !hidden) files.push_back(file.string());
  }
  if (failure) return Error{"cannot list " + folder + ": " + failure.message(), ""};
  std::ranges::sort(files);
  return files;
}

}  // namespace

RuleFiles::RuleFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) paths_.push_back({path, {}});
}

Result<std::vector<RuleFiles::File>> RuleFiles::read(const Path& path) {
  std::vector<std::string> names = {path.path};
  std::error_code not_there;  // reading says why
  if (fs::is_directory(path.path, not_there)) {
    auto listed = list_folder(path.path);
    if (!listed) return listed.error();
    names = *std::move(listed);
    if (names.empty() && !path.deployed.empty()) {
      return Error{"no *.tesla file is left in " + path.path,
                   "to remove its rules, leave one file without rules in it"};
    }
  }
  std::vector<File> files;
  for (const std::string& name : names) {
    auto text = read_regular_file(name);
    if (!text) return text.error();
    files.push_back({name, *std::move(text)});
  }
  return files;
}

bool RuleFiles::is_deployed_elsewhere(const std::string& rule, const std::string& file) const {
  return std::ranges::any_of(paths_, [&](const Path& path) {
    return std::ranges::any_of(path.deployed, [&](const auto& other) {
      return other.first != file && contains(other.second, rule);
    });
  });
}

void RuleFiles::remove(Processor& processor, const std::string& file, const Rules& before,
                       const Rules& now, Outcome& outcome) {
  for (const std::string& rule : before) {
    if (contains(now, rule) || is_deployed_elsewhere(rule, file)) continue;
    if (const auto removed = processor.remove(rule); !removed) {
      outcome.errors.push_back(removed.error());
    } else {
      ++outcome.removed;
    }
  }
}

bool RuleFiles::deploy(Processor& processor, Path& path, const File& file, bool replace,
                       Outcome& outcome) {
  auto diagnostics = processor.deploy(file.name, file.text, {.replace = replace});
  const bool failed = diagnostics.failed();
  std::ranges::move(diagnostics.list, std::back_inserter(outcome.diagnostics.list));
  if (failed) return false;
  ++outcome.files;
  auto now = rule_names({file.name, file.text});
  remove(processor, file.name, path.deployed[file.name], now, outcome);
  path.deployed[file.name] = std::move(now);
  return true;
}

void RuleFiles::load(Processor& processor, Path& path, Outcome& outcome) {
  const auto files = read(path);
  if (!files) {
    outcome.errors.push_back(files.error());
    return;
  }
  std::map<std::string, Rules> gone = path.deployed;
  for (const File& file : *files) gone.erase(file.name);
  const auto was_in_a_gone_file = [&](const std::string& rule) {
    return std::ranges::any_of(gone, [&](const auto& file) { return contains(file.second, rule); });
  };
  bool good = true;
  for (const File& file : *files) {
    // A file may have been renamed.
    const bool replace =
        path.deployed.contains(file.name) ||
        std::ranges::any_of(rule_names({file.name, file.text}), was_in_a_gone_file);
    good = deploy(processor, path, file, replace, outcome) && good;
  }
  if (!good) return;
  for (const auto& [file, rules] : gone) {
    path.deployed.erase(file);
    remove(processor, file, rules, {}, outcome);
    outcome.gone.push_back(file);
  }
}

RuleFiles::Outcome RuleFiles::load(Processor& processor) {
  Outcome outcome;
  for (Path& path : paths_) {
    try {
      load(processor, path, outcome);
    } catch (const std::exception& failure) {
      outcome.errors.push_back({"cannot load " + path.path + ": " + failure.what(), ""});
    }
  }
  return outcome;
}

}  // namespace gorgo::server

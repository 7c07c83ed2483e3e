#include "server/rules/rule_files.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "dispatch/rules/rule_base.hpp"
#include "language/language.hpp"
#include "language/names.hpp"

namespace gorgo::server {
namespace {

namespace fs = std::filesystem;

/// How many rules of a file that had many are removed at once. The step after that looks at all
/// rules that are left, so the more rules there are, the more are removed before it.
std::size_t removed_at_once(std::size_t rules) {
  constexpr std::size_t kLeast = 64, kShare = 32;
  return std::max(kLeast, rules / kShare);
}

/// The full names of the rules in a text, as far as it is well formed.
std::vector<std::string> rule_names(const language::Source& source) {
  return language::rule_names(language::parse(source).file, source);
}

Error cannot_load(const std::string& path, const std::exception& failure) {
  return {"cannot load " + path + ": " + failure.what(), ""};
}

}  // namespace

RuleFiles::RuleFiles(const std::vector<std::string>& paths, const ActionBoard* executable)
    : executable_(executable) {
  for (const std::string& path : paths) paths_.push_back({path, {}});
}

void RuleFiles::set_paths(const std::vector<std::string>& paths) {
  std::vector<Path> before = std::exchange(paths_, {});
  for (const std::string& path : paths) {
    const auto known = std::ranges::find(before, path, &Path::path);
    if (known == before.end()) {
      paths_.push_back({path, {}});
    } else {
      paths_.push_back(std::move(*known));
      before.erase(known);
    }
  }
  for (Path& path : before) retired_.merge(path.deployed);
}

Result<std::deque<RuleFiles::File>> RuleFiles::read(const Path& path) {
  std::vector<std::string> names = {path.path};
  std::error_code not_there;  // reading says why
  if (fs::is_directory(path.path, not_there)) {
    auto listed = files_in(path.path, ".tesla");
    if (!listed) return listed.error();
    names = *std::move(listed);
    if (names.empty() && !path.deployed.empty()) {
      return Error{"no *.tesla file is left in " + path.path,
                   "to remove its rules, leave one file without rules in it"};
    }
  }
  std::deque<File> files;
  for (const std::string& name : names) {
    auto text = read_regular_file(name);
    if (!text) return text.error();
    files.push_back({name, *std::move(text)});
  }
  return files;
}

void RuleFiles::read_all() {
  is_read_ = true;
  for (Path& path : paths_) {
    try {
      auto files = read(path);
      if (!files) {
        outcome_.errors.push_back(files.error());
        continue;
      }
      Files gone = path.deployed;
      for (const File& file : *files) gone.erase(file.name);
      if (!files->empty()) readings_.push_back({&path, *std::move(files), std::move(gone)});
    } catch (const std::exception& failure) {
      outcome_.errors.push_back(cannot_load(path.path, failure));
    }
  }
}

void RuleFiles::begin(const KnownFiles& in_force) {
  is_read_ = false;
  in_force_.clear();
  for (const auto& [name, file] : in_force.all()) {
    if (file.whole) in_force_[name] = file.text;
  }
  readings_.clear();
  prepared_ = nullptr;
  outcome_ = {};
}

bool RuleFiles::check_next(const RuleSnapshot& snapshot) {
  if (!is_read_) read_all();
  if (!leaving_.empty()) return true;
  while (!readings_.empty()) {
    try {
      check(readings_.front(), snapshot);
      return true;
    } catch (const std::exception& failure) {
      give_up_path(failure);
    }
  }
  if (!outcome_.failed()) leave_retired_files();
  return !leaving_.empty();
}

void RuleFiles::leave_retired_files() {
  for (const auto& [file, rules] : std::exchange(retired_, {})) {
    outcome_.gone.push_back(file);
    replace(rules, {});
  }
}

void RuleFiles::check(Reading& reading, const RuleSnapshot& snapshot) {
  const File& file = reading.files.front();
  if (is_in_force(*reading.path, file)) return;
  const auto was_in_a_gone_file = [&](const std::string& rule) {
    const auto has_it = [&](const auto& gone) {
      return std::ranges::find(gone.second, rule) != gone.second.end();
    };
    return std::ranges::any_of(reading.gone, has_it) || std::ranges::any_of(retired_, has_it);
  };
  // The file may have been renamed, so that a file that has gone had its rules.
  const bool replace =
      reading.path->deployed.contains(file.name) ||
      ((!reading.gone.empty() || !retired_.empty()) &&
       std::ranges::any_of(rule_names({file.name, file.text}), was_in_a_gone_file));
  DeployOptions options{.replace = replace};
  if (executable_ != nullptr) options.actions = executable_->texts();
  prepared_ = prepare_rules(snapshot, file.name, file.text, options);
}

void RuleFiles::put_in_force(RuleBook& book) {
  if (!leaving_.empty()) return remove_some(book);
  Reading& reading = readings_.front();
  try {
    deploy_file(book, reading);
    reading.files.pop_front();
    if (!reading.files.empty()) return;
    for (const auto& [file, rules] : reading.good ? reading.gone : Files()) {
      reading.path->deployed.erase(file);
      outcome_.gone.push_back(file);
      replace(rules, {});
    }
    readings_.pop_front();
  } catch (const std::exception& failure) {
    give_up_path(failure);
  }
}

void RuleFiles::deploy_file(RuleBook& book, Reading& reading) {
  const PreparedRules prepared = std::exchange(prepared_, nullptr);
  if (prepared == nullptr) {
    ++outcome_.files;
    return;
  }
  auto diagnostics = book.deploy(prepared, {.file = true});
  const bool failed = diagnostics.failed();
  std::ranges::move(diagnostics.list, std::back_inserter(outcome_.diagnostics.list));
  if (failed) {
    reading.good = false;
    return;
  }
  ++outcome_.files;
  Rules now;
  for (const auto& plan : prepared->plans) now.push_back(plan->rule.name);
  Rules& deployed = reading.path->deployed[reading.files.front().name];
  const Rules before = std::exchange(deployed, now);
  replace(before, now);
}

/// Notes that a file has other rules. Those that no file has are to be removed.
void RuleFiles::replace(const Rules& before, const Rules& now) {
  for (const std::string& rule : now) {
    if (++holders_[rule] == 1) outcome_.added.push_back(rule);
  }
  for (const std::string& rule : before) {
    const auto holders = holders_.find(rule);
    if (--holders->second > 0) continue;
    holders_.erase(holders);
    leaving_.push_back(rule);
  }
}

/// Removes the latest rules first, which moves the fewest others.
void RuleFiles::remove_some(RuleBook& book) {
  const std::size_t most = removed_at_once(book.processor().rule_count());
  for (std::size_t i = 0; i < most && !leaving_.empty(); ++i) {
    const std::string rule = std::move(leaving_.back());
    leaving_.pop_back();
    try {
      const auto removed = book.remove(rule, {.file = true});
      if (removed) {
        outcome_.removed.push_back(rule);
      } else {
        outcome_.errors.push_back(removed.error());
      }
    } catch (const std::exception& failure) {
      outcome_.errors.push_back({"cannot remove rule " + rule + ": " + failure.what(), ""});
    }
  }
}

void RuleFiles::give_up_path(const std::exception& failure) {
  outcome_.errors.push_back(cannot_load(readings_.front().path->path, failure));
  readings_.pop_front();
}

void RuleFiles::adopt(const KnownFiles& files) {
  for (const auto& entry : files.all()) {
    const std::string& name = entry.first;  // Clang 14 lets no lambda have a part of a binding
    const KnownFiles::File& file = entry.second;
    for (const std::string& rule : file.rules) ++holders_[rule];
    const std::string folder = fs::path(name).parent_path().string();
    const auto holds = [&](const Path& path) {
      return path.path == name || fs::path(path.path + "/").parent_path().string() == folder;
    };
    const auto path = std::ranges::find_if(paths_, holds);
    (path == paths_.end() ? retired_ : path->deployed)[name] = file.rules;
  }
}

bool RuleFiles::is_in_force(const Path& path, const File& file) const {
  const auto text = in_force_.find(file.name);
  return text != in_force_.end() && text->second == file.text && path.deployed.contains(file.name);
}

RuleFiles::Outcome RuleFiles::load(RuleBook& book) {
  begin(book.files());
  while (check_next(book.processor().snapshot())) put_in_force(book);
  return std::exchange(outcome_, {});
}

}  // namespace gorgo::server

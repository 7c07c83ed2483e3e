#pragma once

#include <map>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"

namespace gorgo::server {

/// Which rules clients have deployed under which name, so that they can be removed together.
/// Belongs to the engine thread.
class Deployments {
 public:
  /// By the full name of a rule, the name of its deployment.
  using Names = std::map<std::string, std::string>;

  /// The rules of a text, which was checked without errors, as a deployment of this name. Any
  /// thread.
  static Names names_of(const std::string& name, const dispatch::CheckedText& text);
  /// They were deployed.
  void note(Names rules);
  /// The rules of a deployment that are in force, in rule order: those that clients deployed under
  /// this name, and those of a rule file whose name they begin with (`NAME.Type`).
  std::vector<std::string> rules_of(const std::string& name, const Processor& processor) const;
  /// The deployment that a rule belongs to, without folders and the ending of a file; of a rule
  /// with a name of its own that no client has deployed, that name.
  std::string owner_of(const std::string& rule) const;
  /// The name that a client gave to the deployment of a rule; empty: no client has deployed it.
  std::string name_of(const std::string& rule) const;
  const Names& all() const { return of_rule_; }
  /// The rule is in force again, with the deployment of this name.
  void restore(const std::string& rule, const std::string& name) { of_rule_[rule] = name; }
  /// The rule was removed.
  void forget(const std::string& rule) { of_rule_.erase(rule); }

 private:
  Names of_rule_;
};

}  // namespace gorgo::server

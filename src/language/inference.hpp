#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "language/reporter.hpp"
#include "language/types.hpp"

namespace gorgo::language {

/// Finds the types of attributes that nothing declares, by unification over all rules of a file
/// (language.md §1). Evidence is given in text order; `solve` then fixes the types of the table.
///
/// Attributes that a rule reads although an inferred type of deployed rules lacks them get a node
/// too: they are refused later, but the message can then say which declaration would help.
class Inference {
 public:
  using Node = std::uint32_t;

  Inference(TypeTable& types, Reporter& reporter) : types_(types), reporter_(reporter) {}

  /// The attribute's node, made at its first mention; nothing when its type is given.
  std::optional<Node> node(TypeIndex type, std::string_view attribute, Location at);

  /// Strong evidence. `why` completes "... is TYPE": "as `where` says", ....
  void strong(Node node, ValueType type, Location at, std::string_view why);
  /// The attribute is a number; float unless there is strong evidence.
  void number(Node node, Location at);
  /// Both have one type: a parameter links them.
  void unite(Node a, Node b, Location at);
  /// Both are numbers, strings or bools: they are compared. The weakest evidence.
  void alike(Node a, Node b) { alike_.emplace_back(a, b); }
  /// Something about the attribute was wrong and is reported elsewhere: missing evidence is not
  /// worth a message.
  void taint(Node node) { set_of(node).tainted = true; }

  /// Gives the inferred types of the table their attributes and reports what has no solution.
  void solve();
  /// After `solve`: the type of an attribute that its type lacks, for messages.
  ValueType guess(TypeIndex type, std::string_view attribute);

 private:
  std::optional<Node> joint_node(TypeIndex type, std::string_view attribute, Location at);

  struct Set {
    std::optional<ValueType> type;
    Node owner = 0;  // the attribute that the evidence for `type` speaks of
    Location at;     // of that evidence
    std::string_view why;
    std::optional<Location> number_at;
    bool tainted = false;
    bool reported = false;
  };
  struct Mention {
    TypeIndex type;
    std::string attribute;
    Location at;
    Node parent;
  };

  Node find(Node node);
  Set& set_of(Node node) { return sets_[find(node)]; }
  void propagate_alike();
  std::string name_of(Node node) const;
  void report_conflict(Node node, ValueType type, Location at, std::string_view why);
  void report_number_conflict(Node node, Location number_at, Location type_at);
  void report_no_evidence(Node node);
  std::string attributes_of(TypeIndex type, bool without_evidence);
  std::string remedy(Node node);

  TypeTable& types_;
  Reporter& reporter_;
  std::vector<Mention> mentions_;  // by node
  std::vector<Set> sets_;          // by root node
  std::unordered_map<TypeIndex, std::unordered_map<std::string, Node>> nodes_;
  std::unordered_map<TypeIndex, std::vector<Node>> nodes_of_type_;  // in order of mention
  std::vector<std::pair<Node, Node>> alike_;
  std::unordered_set<TypeIndex> reported_types_;
};

}  // namespace gorgo::language

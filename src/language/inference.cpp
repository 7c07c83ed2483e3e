#include "language/inference.hpp"

#include <deque>

#include "language/server_types.hpp"

namespace gorgo::language {
std::optional<Inference::Node> Inference::node(TypeIndex type, std::string_view attribute,
                                               Location at) {
  const TypeEntry& entry = types_.at(type);
  if (!entry.members.empty()) return joint_node(type, attribute, at);
  const bool open = !entry.fixed ||
                    (entry.type.origin == TypeOrigin::inferred && !is_server_name(entry.type.name));
  if (!open || entry.find(attribute)) return std::nullopt;
  const auto next = static_cast<Node>(mentions_.size());
  const auto [it, added] = nodes_[type].emplace(std::string(attribute), next);
  if (added) {
    mentions_.push_back({type, std::string(attribute), at, next});
    sets_.emplace_back();
    nodes_of_type_[type].push_back(next);
  }
  return it->second;
}

/// What is said about an attribute of a joint type is said about that of its members, which is one.
std::optional<Inference::Node> Inference::joint_node(TypeIndex type, std::string_view attribute,
                                                     Location at) {
  if (types_.at(type).fixed) return std::nullopt;
  std::optional<Node> joint;
  std::optional<ValueType> given;
  for (const TypeIndex member : types_.at(type).members) {
    const auto open = node(member, attribute, at);
    const TypeEntry& entry = types_.at(member);
    if (const auto index = entry.find(attribute)) given = entry.type.attributes[*index].type;
    if (!open) continue;
    if (joint) unite(*joint, *open, at);
    joint = joint ? joint : open;
  }
  if (joint && given) strong(*joint, *given, at, "as in another type of the state");
  return joint;
}

Inference::Node Inference::find(Node node) {
  while (mentions_[node].parent != node) {
    node = mentions_[node].parent = mentions_[mentions_[node].parent].parent;
  }
  return node;
}

void Inference::strong(Node node, ValueType type, Location at, std::string_view why) {
  Set& set = set_of(node);
  if (set.type && *set.type != type) return report_conflict(node, type, at, why);
  if (set.number_at && !is_number(type)) return report_number_conflict(node, *set.number_at, at);
  if (set.type) return;
  set.type = type;
  set.owner = node;
  set.at = at;
  set.why = why;
}

void Inference::number(Node node, Location at) {
  Set& set = set_of(node);
  if (set.type && !is_number(*set.type)) return report_number_conflict(node, at, set.at);
  if (!set.number_at) set.number_at = at;
}

void Inference::unite(Node a, Node b, Location at) {
  const Node root = find(a), other = find(b);
  if (root == other) return;
  const Set joined = sets_[other];
  mentions_[other].parent = root;
  sets_[root].tainted |= joined.tainted;
  sets_[root].reported |= joined.reported;
  if (joined.number_at) number(root, *joined.number_at);
  if (!joined.type) return;
  Set& set = sets_[root];
  if (set.type) return strong(root, *joined.type, at, "by the parameter here");
  strong(root, *joined.type, joined.at, joined.why);
  set.owner = joined.owner;
}

void Inference::propagate_alike() {
  std::unordered_map<Node, std::vector<Node>> neighbours;
  std::deque<Node> open;
  for (const auto& [a, b] : alike_) {
    neighbours[find(a)].push_back(find(b));
    neighbours[find(b)].push_back(find(a));
    open.push_back(find(a));
    open.push_back(find(b));
  }
  while (!open.empty()) {
    const Node from = open.front();
    open.pop_front();
    const Set& set = sets_[from];
    if (!set.type && !set.number_at && !set.tainted) continue;
    for (const Node to : neighbours[from]) {
      Set& other = sets_[to];
      if (other.type || other.number_at || other.tainted) continue;
      if (set.type && !is_number(*set.type)) {
        other.type = set.type;
      } else if (set.type || set.number_at) {
        other.number_at = mentions_[to].at;
      } else {
        other.tainted = true;
      }
      open.push_back(to);
    }
  }
}

void Inference::solve() {
  propagate_alike();
  for (Node node = 0; node < mentions_.size(); ++node) {
    const Mention& mention = mentions_[node];
    const Set& set = set_of(node);
    const bool known_kind = set.type || set.number_at;
    TypeEntry& entry = types_.at(mention.type);
    if (entry.known) {  // an attribute that it lacks: whoever reads it reports it
      if (set.reported) entry.poisoned.insert(mention.attribute);
      continue;
    }
    if (!known_kind && !set.tainted && !set.reported) report_no_evidence(node);
    if (!known_kind || set.reported) entry.poisoned.insert(mention.attribute);
    entry.add_attribute({mention.attribute, set.type.value_or(ValueType::floating)});
  }
  types_.fix_joint_types();
  for (TypeIndex i = 0; i < types_.size(); ++i) types_.at(i).fixed = true;
}

ValueType Inference::guess(TypeIndex type, std::string_view attribute) {
  const auto of_type = nodes_.find(type);
  if (of_type == nodes_.end()) return ValueType::floating;
  const auto it = of_type->second.find(std::string(attribute));
  if (it == of_type->second.end()) return ValueType::floating;
  return set_of(it->second).type.value_or(ValueType::floating);
}

std::string Inference::name_of(Node node) const {
  const Mention& mention = mentions_[node];
  return in_quotes(mention.attribute) + " of " + in_quotes(types_.at(mention.type).type.name);
}

void Inference::report_conflict(Node node, ValueType type, Location at, std::string_view why) {
  Set& set = set_of(node);
  if (set.reported || reporter_.full()) return;
  set.reported = true;
  std::string message = "attribute " + name_of(node) + " is " + std::string(to_string(type)) + " " +
                        std::string(why) + ", but ";
  if (set.owner != node) message += name_of(set.owner) + ", linked to it by parameters, is ";
  message +=
      std::string(to_string(*set.type)) + " " + std::string(set.why) + " at " + place(set.at);
  reporter_.error(at, std::move(message), remedy(node));
}

void Inference::report_number_conflict(Node node, Location number_at, Location type_at) {
  Set& set = set_of(node);
  if (set.reported || reporter_.full()) return;
  set.reported = true;
  const bool number_last = set.type.has_value();
  std::string message = "attribute " + name_of(node);
  if (number_last) {
    message += " is used as a number, but is " + std::string(to_string(*set.type)) + " " +
               std::string(set.why) + " at " + place(type_at);
    return reporter_.error(number_at, std::move(message), remedy(node));
  }
  message += " is no number here, but is used as one at " + place(number_at);
  reporter_.error(type_at, std::move(message), remedy(node));
}

std::string Inference::remedy(Node node) {
  return "if one of the uses is right, declare the type: " +
         attributes_of(mentions_[node].type, false);
}

void Inference::report_no_evidence(Node node) {
  const Mention& mention = mentions_[node];
  Set& set = set_of(node);
  set.reported = true;
  if (reporter_.full() || !reported_types_.insert(mention.type).second) return;
  const std::string& type = types_.at(mention.type).type.name;
  const std::string near = reporter_.suggest(type, types_.fixed_names());
  reporter_.error(mention.at, "nothing says what type attribute " + name_of(node) + " has",
                  (near.empty() ? "" : near + " else ") + "declare it, for example " +
                      attributes_of(mention.type, true));
}

/// The declaration of an inferred type as far as it is known.
std::string Inference::attributes_of(TypeIndex type, bool without_evidence) {
  EventType declared = types_.at(type).type;
  if (!types_.at(type).known) declared.attributes.clear();
  for (const Node node : nodes_of_type_[type]) {
    const Set& set = set_of(node);
    const bool unknown = without_evidence && !set.type && !set.number_at;
    const ValueType fallback = unknown ? ValueType::integer : ValueType::floating;
    declared.attributes.push_back({mentions_[node].attribute, set.type.value_or(fallback)});
  }
  return declaration(declared);
}

}  // namespace gorgo::language

#include "plan/components.hpp"

#include <algorithm>

namespace gorgo::plan {
namespace {

using Node = std::uint32_t;

/// Strongly connected components (R. Tarjan, "Depth-first search and linear graph algorithms",
/// 1972), found in the order in which they can be evaluated. The stack is explicit: rules come from
/// outside, and a chain of them may be long.
class ComponentSearch {
 public:
  explicit ComponentSearch(std::span<const std::vector<Node>> inputs)
      : inputs_(inputs), index_(inputs.size(), kUnseen), low_(inputs.size()), open_(inputs.size()) {
    for (Node node = 0; node < inputs.size(); ++node) {
      if (index_[node] == kUnseen) visit(node);
    }
  }

  std::vector<std::vector<Node>> take() { return std::move(components_); }

 private:
  static constexpr std::uint32_t kUnseen = ~std::uint32_t{0};
  struct Step {
    Node node;
    std::size_t next_input;
  };

  void visit(Node root) {
    enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      const Node node = step.node;
      if (step.next_input == inputs_[node].size()) {
        leave(node);
        continue;
      }
      const Node input = inputs_[node][step.next_input++];
      if (index_[input] == kUnseen) {
        enter(input);
      } else if (open_[input]) {
        low_[node] = std::min(low_[node], index_[input]);
      }
    }
  }

  void enter(Node node) {
    index_[node] = low_[node] = count_++;
    open_[node] = true;
    waiting_.push_back(node);
    path_.push_back({node, 0});
  }

  void leave(Node node) {
    path_.pop_back();
    if (!path_.empty()) {
      const Node parent = path_.back().node;
      low_[parent] = std::min(low_[parent], low_[node]);
    }
    if (low_[node] != index_[node]) return;
    std::vector<Node> component;
    do {
      component.push_back(waiting_.back());
      open_[waiting_.back()] = false;
      waiting_.pop_back();
    } while (component.back() != node);
    std::sort(component.begin(), component.end());
    components_.push_back(std::move(component));
  }

  std::span<const std::vector<Node>> inputs_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<bool> open_;
  std::vector<Node> waiting_;
  std::vector<Step> path_;
  std::vector<std::vector<Node>> components_;
  std::uint32_t count_ = 0;
};

}  // namespace

std::vector<std::vector<Node>> components_of(std::span<const std::vector<Node>> inputs) {
  return ComponentSearch(inputs).take();
}

}  // namespace gorgo::plan

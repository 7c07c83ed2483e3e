#pragma once

#include <array>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cassert>
#include <cstddef>

namespace gorgo {

/// A vector that copies share: a copy costs a pointer, and a change costs a path from the root of a
/// wide tree to the element, which the changed vector has for itself from then on. What no copy
/// shares is changed in place.
///
/// Thread-safety: different threads may use different copies at the same time, although copies
/// share memory.
template <class T>
class SharedVector {
 public:
  std::size_t size() const { return size_; }

  /// Precondition: `index < size()`. The reference is valid until this vector changes or ends.
  const T& operator[](std::size_t index) const {
    assert(index < size_);
    const Node* node = root_.get();
    for (unsigned shift = shift_; shift > 0; shift -= kBits) {
      node = static_cast<const Inner*>(node)->children[(index >> shift) % kWidth].get();
    }
    return static_cast<const Leaf*>(node)->values[index % kWidth];
  }

  /// Precondition: `index < size()`.
  void set(std::size_t index, T value) {
    assert(index < size_);
    slot(index) = std::move(value);
  }

  void push_back(T value) {
    if (size_ == (kWidth << shift_)) grow();
    slot(size_) = std::move(value);
    ++size_;
  }

 private:
  static constexpr unsigned kBits = 5;
  static constexpr std::size_t kWidth = std::size_t{1} << kBits;

  struct Node : boost::intrusive_ref_counter<Node> {
    Node() = default;
    Node(const Node&) = default;
    Node& operator=(const Node&) = delete;
    virtual ~Node() = default;
  };
  using NodePtr = boost::intrusive_ptr<Node>;
  struct Inner : Node {
    std::array<NodePtr, kWidth> children;
  };
  struct Leaf : Node {
    std::array<T, kWidth> values{};
  };

  /// The node behind the pointer, made or copied unless this vector has it for itself.
  template <class Kind>
  static Kind& own(NodePtr& node) {
    if (node == nullptr) {
      node = new Kind;
    } else if (node->use_count() > 1) {
      node = new Kind(static_cast<const Kind&>(*node));
    }
    return static_cast<Kind&>(*node);
  }

  T& slot(std::size_t index) {
    NodePtr* node = &root_;
    for (unsigned shift = shift_; shift > 0; shift -= kBits) {
      node = &own<Inner>(*node).children[(index >> shift) % kWidth];
    }
    return own<Leaf>(*node).values[index % kWidth];
  }

  void grow() {
    const NodePtr top(new Inner);
    static_cast<Inner&>(*top).children[0] = root_;
    root_ = top;
    shift_ += kBits;
  }

  NodePtr root_;
  unsigned shift_ = 0;  // an index shifted by it is its digit in the root
  std::size_t size_ = 0;
};

}  // namespace gorgo

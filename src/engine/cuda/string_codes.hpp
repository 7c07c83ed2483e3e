#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gorgo::engine {

/// Numbers for the strings that a device holds, so that it compares strings for equality as words.
/// Codes begin at 1; a code that nobody uses is given to another string.
class StringCodes {
 public:
  /// Returns the code of the string and counts one use more.
  std::uint64_t add(std::string_view text) {
    auto it = entries_.find(text);
    if (it == entries_.end()) {
      if (free_.empty()) {
        free_.push_back(by_code_.size());
        by_code_.push_back(nullptr);
      }
      it = entries_.emplace(std::string(text), Entry{free_.back(), 0}).first;
      by_code_[free_.back()] = &*it;
      free_.pop_back();
    }
    ++it->second.uses;
    return it->second.code;
  }

  /// Takes one use back.
  void release(std::uint64_t code) {
    Node* const node = by_code_[code];
    if (--node->second.uses > 0) return;
    by_code_[code] = nullptr;
    free_.push_back(code);
    entries_.erase(entries_.find(node->first));
  }

  /// Returns the code of the string; 0 if nobody uses it.
  std::uint64_t find(std::string_view text) const {
    const auto it = entries_.find(text);
    return it == entries_.end() ? 0 : it->second.code;
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t code;
    std::uint64_t uses;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Node = std::pair<const std::string, Entry>;

  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
  std::vector<Node*> by_code_ = {nullptr};
  std::vector<std::uint64_t> free_;
};

}  // namespace gorgo::engine

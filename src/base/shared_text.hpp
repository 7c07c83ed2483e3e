#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gorgo/shared_list.hpp"

namespace gorgo {

/// A text that copies share, see SharedList.
class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string_view text) : characters_(std::vector<char>(text.begin(), text.end())) {}
  SharedText(const std::string& text) : SharedText(std::string_view(text)) {}
  SharedText(const char* text) : SharedText(std::string_view(text)) {}

  operator std::string_view() const { return {characters_.data(), characters_.size()}; }

 private:
  SharedList<char> characters_;
};

}  // namespace gorgo

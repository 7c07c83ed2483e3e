#pragma once

#include <antlr4-runtime.h>

#include <string_view>

namespace gorgo::language {

/// The bytes of a text as the lexer's characters: positions are byte offsets, and text that is not
/// UTF-8 cannot stop the lexer. All characters are below 128: ANTLR remembers where those lead, and
/// finds that out anew for each other one, which takes forty times as long.
class ByteStream final : public antlr4::CharStream {
 public:
  /// `text` must outlive the stream.
  explicit ByteStream(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }

  void consume() override { ++position_; }
  std::size_t LA(ssize_t i) override;
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  std::size_t index() override { return position_; }
  void seek(std::size_t index) override { position_ = index; }
  std::size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return UNKNOWN_SOURCE_NAME; }
  std::string getText(const antlr4::misc::Interval& interval) override;
  std::string toString() const override { return std::string(text_); }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace gorgo::language

#include "language/words.hpp"

#include <algorithm>
#include <cctype>

#include "language/byte_stream.hpp"
#include "language/item_stream.hpp"
#include "language/syntax_error.hpp"

namespace gorgo::language {
namespace {

using grammar::TeslaLexer;

constexpr std::size_t kMaxWords = 250'000;

/// Whether a comment that begins in `gap` goes on behind it.
bool in_comment(std::string_view gap) {
  const std::size_t line = gap.find_last_of("\r\n");
  const std::string_view last = line == gap.npos ? gap : gap.substr(line + 1);
  if (last.find("//") != last.npos || last.find('#') != last.npos) return true;
  const std::size_t block = gap.rfind("/*");
  return block != gap.npos && gap.find("*/", block) == gap.npos;
}

bool is_string(const antlr4::Token& token) {
  return token.getType() == TeslaLexer::STRING ||
         token.getType() == TeslaLexer::UNTERMINATED_STRING;
}

bool is_word(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  return std::isalnum(first) != 0 || first == '_' || first == '$';
}

/// The words of an item that begins behind `begin`.
class Splitter {
 public:
  Splitter(const ItemTokens& item, std::string_view text, std::size_t begin, std::size_t offset)
      : item_(item), text_(text), offset_(offset), last_end_(begin) {}

  WordsAround split() {
    for (std::size_t i = 0; i < item_.size(); ++i) add(i);
    if (in_comment(text_.substr(last_end_, offset_ - last_end_))) words_.in_text = true;
    return std::move(words_);
  }

 private:
  void add(std::size_t index) {
    const antlr4::Token& token = *item_.tokens[index];
    const std::size_t begin = token.getStartIndex(), end = token.getStopIndex() + 1;
    const std::string_view word = text_.substr(begin, end - begin);
    if (begin >= offset_) {
      ended_ = ended_ || begins_item(item_, index);
      if (!ended_) words_.after.push_back(word);
      return;
    }
    if (begins_item(item_, index)) words_.before.clear();
    const bool around = end > offset_ || (end == offset_ && is_word(word));
    if (around && is_string(token)) words_.in_text = true;
    if (around) {
      words_.begun = word.substr(0, offset_ - begin);
    } else {
      words_.before.push_back(word);
    }
    last_end_ = std::min(end, offset_);
  }

  const ItemTokens& item_;
  std::string_view text_;
  std::size_t offset_;
  WordsAround words_;
  std::size_t last_end_;  // of what stands before the place
  bool ended_ = false;
};

}  // namespace

WordsAround words_around(std::string_view text, std::size_t offset) {
  ByteStream bytes(text);
  TeslaLexer lexer(&bytes);
  lexer.removeErrorListeners();
  std::size_t begin = 0;
  while (true) {
    const ItemTokens item = read_item(lexer, kMaxWords);
    const std::size_t end = item.last ? text.size() : item.tokens.back()->getStartIndex();
    if (offset > end && !item.last) {
      begin = end + 1;
      continue;
    }
    return Splitter(item, text, begin, offset).split();
  }
}

}  // namespace gorgo::language

#include <utility>

#include "language/build_item.hpp"
#include "language/comments.hpp"
#include "language/language.hpp"
#include "language/layout.hpp"
#include "language/parse_items.hpp"
#include "language/pieces.hpp"

namespace gorgo::language {
namespace {

/// Puts items and the comments between them together.
class FileLayout {
 public:
  explicit FileLayout(std::string_view text) : text_(text) {}

  void add(grammar::TeslaParser::ItemContext* item) {
    const Extent extent = extent_of(item);
    auto pieces = pieces_of(item, text_);
    // A span that moves into the brackets of its aggregate leaves comments at the end of the item.
    Piece end{.text = ";", .glue = Piece::Glue::tight, .after = std::move(pieces.back().after)};
    pieces.back().after.clear();
    pieces.push_back(std::move(end));
    enter(std::move(pieces), item->ruleDefinition() != nullptr,
          read_gap(text_.substr(end_, extent.begin - end_)));
    end_ = extent.end;
  }

  std::string finish() {
    enter({}, false, read_gap(text_.substr(end_)));
    return to_text(lines_);
  }

 private:
  /// The item before is complete only with the comments behind it; `gap` lies between the two.
  void enter(std::vector<Piece> next, bool next_is_rule, Gap gap) {
    auto comment = gap.comments.begin();
    if (!last_.empty()) {
      while (comment != gap.comments.end() && !comment->own_line()) {
        last_.back().after.push_back(std::move(*comment++));
      }
      lay_out(last_, lines_);
    }
    bool apart = last_is_rule_ || (next_is_rule && !last_.empty());
    for (; comment != gap.comments.end(); ++comment) {
      separate(std::exchange(apart, false) || comment->lines_before > 1);
      lay_out(*comment, 0, lines_);
    }
    if (!next.empty()) separate(apart || gap.lines_after > 1);
    last_ = std::move(next);
    last_is_rule_ = next_is_rule;
  }

  /// Leaves a line empty, except at the beginning.
  void separate(bool wanted) {
    if (wanted && !lines_.empty()) lines_.emplace_back();
  }

  std::string_view text_;
  std::size_t end_ = 0;  // of the last item
  std::vector<Line> lines_;
  std::vector<Piece> last_;  // the last item, until what stands behind it is known
  bool last_is_rule_ = false;
};

}  // namespace

FormattedFile format(const Source& source) {
  Reporter reporter(source);
  ItemBuilder builder(reporter);
  FileLayout layout(source.text);
  parse_items(source, reporter, [&](grammar::TeslaParser::ItemContext* item) {
    builder.item(item);
    if (!reporter.failed()) layout.add(item);
  });
  FormattedFile result{{}, reporter.take()};
  if (!result.diagnostics.failed()) result.text = layout.finish();
  return result;
}

}  // namespace gorgo::language

#include "language/layout.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::language {
namespace {

using Glue = Piece::Glue;

constexpr std::size_t kMaxWidth = 100;
/// Brackets that open further right are no place to continue below.
constexpr std::size_t kMaxBracketColumn = 60;

/// The width in characters, where bytes that continue one do not count.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// The comment behind which the line ends; comments before it stand in the line.
auto line_end(const Piece& piece) {
  return std::find_if(piece.after.begin(), piece.after.end(),
                      [](const Comment& comment) { return comment.ends_line(); });
}

bool ends_line(const Piece& piece) { return line_end(piece) != piece.after.end(); }

class Layout {
 public:
  Layout(const std::vector<Piece>& pieces, std::vector<Line>& lines)
      : pieces_(pieces), lines_(lines) {}

  void run() {
    std::size_t begin = 0;
    while (begin < pieces_.size()) {
      const Piece& head = pieces_[begin];
      const bool fresh = head.glue == Glue::line;
      if (fresh) {
        brackets_.clear();
        continuation_ = head.continuation;
      }
      const std::size_t column = fresh ? head.indent : continuation_column();
      for (const auto& comment : head.before) lay_out(comment, column, lines_);
      const std::size_t end = fitting_end(begin, forced_end(begin), column);
      write(begin, end, column);
      begin = end;
    }
  }

 private:
  std::size_t continuation_column() const {
    const bool inside = !brackets_.empty() && brackets_.back() <= kMaxBracketColumn;
    return inside ? brackets_.back() : continuation_;
  }

  /// The next piece that begins a line whatever the width.
  std::size_t forced_end(std::size_t begin) const {
    std::size_t end = begin + 1;
    while (end < pieces_.size() && pieces_[end].glue != Glue::line && pieces_[end].before.empty() &&
           !ends_line(pieces_[end - 1])) {
      ++end;
    }
    return end;
  }

  /// The best piece before `end` to break at, or `end` when all fits or nothing can be broken.
  std::size_t fitting_end(std::size_t begin, std::size_t end, std::size_t column) const {
    std::size_t best = end;
    for (std::size_t i = begin; i < end; ++i) {
      const int rank = pieces_[i].rank;
      const bool breaks = i > begin && rank != Piece::kUnbreakable;
      if (breaks && (best == end || (column <= kMaxWidth && rank <= pieces_[best].rank))) best = i;
      column = append(pieces_[i], i == begin, column, nullptr);
      if (column > kMaxWidth && best != end) return best;
    }
    return column > kMaxWidth ? best : end;
  }

  /// Appends the piece to `code` (null: only measures) and returns the column behind it.
  std::size_t append(const Piece& piece, bool first, std::size_t column, std::string* code) const {
    std::string text;
    if (!first && piece.glue == Glue::content) {
      text.assign(std::max<std::size_t>(kContentColumn, column + 1) - column, ' ');
    } else if (!first && (piece.glue == Glue::space || commented(piece))) {
      text = " ";
    }
    text += piece.text;
    for (auto it = piece.after.begin(); it != line_end(piece); ++it) text += " " + it->text;
    if (code != nullptr) *code += text;
    return column + width_of(text);
  }

  /// Whether a comment stands directly before the piece.
  bool commented(const Piece& piece) const {
    return &piece != pieces_.data() && !(&piece - 1)->after.empty();
  }

  void write(std::size_t begin, std::size_t end, std::size_t column) {
    Line line{std::string(column, ' '), ""};
    for (std::size_t i = begin; i < end; ++i) {
      const Piece& piece = pieces_[i];
      column = append(piece, i == begin, column, &line.code);
      if (piece.text == "(") brackets_.push_back(column);
      if (piece.text == ")" && !brackets_.empty()) brackets_.pop_back();
      for (auto it = line_end(piece); it != piece.after.end(); ++it) {
        line.comment += (line.comment.empty() ? "" : " ") + it->text;
      }
    }
    lines_.push_back(std::move(line));
  }

  const std::vector<Piece>& pieces_;
  std::vector<Line>& lines_;
  std::vector<std::size_t> brackets_;  // columns behind those that are open
  std::size_t continuation_ = 0;
};

}  // namespace

void lay_out(const std::vector<Piece>& pieces, std::vector<Line>& lines) {
  Layout(pieces, lines).run();
}

void lay_out(const Comment& comment, std::size_t column, std::vector<Line>& lines) {
  lines.push_back({std::string(column, ' ') + comment.text, ""});
}

std::string to_text(const std::vector<Line>& lines) {
  std::string text;
  std::size_t run_end = 0, comment_column = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i >= run_end) {
      comment_column = 0;
      for (run_end = i; run_end < lines.size() && !lines[run_end].comment.empty(); ++run_end) {
        comment_column = std::max(comment_column, width_of(lines[run_end].code) + 2);
      }
    }
    text += lines[i].code;
    if (!lines[i].comment.empty()) {
      text.append(comment_column - width_of(lines[i].code), ' ');
      text += lines[i].comment;
    }
    text += '\n';
  }
  return text;
}

}  // namespace gorgo::language

#include "doors/lines/line_reader.hpp"

#include <utility>

#include "codec/text.hpp"

namespace gorgo::doors {

LineReader::LineReader(const Settings& settings, const Types& types, std::string name)
    : name_(std::move(name)),
      reader_(make_payload_reader(settings, types)),
      awaits_header_(reader_->has_header()) {}

void LineReader::take(std::string_view line, Arrived& arrived) {
  if (is_refused_) return;
  if (++lines_ == 1) line = codec::without_byte_order_mark(line);
  if (!std::exchange(is_open_, false)) first_ = lines_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  Result<void> read;
  if (std::exchange(awaits_header_, false)) {
    read = reader_->header(line);
    is_refused_ = !read;
  } else if (const auto outcome = reader_->read(line, nullptr, arrived.events); !outcome) {
    read = outcome.error();
  } else {
    is_open_ = *outcome == PayloadReader::Outcome::open;
  }
  if (!read) refuse(line, read.error(), arrived);
}

void LineReader::end(Arrived& arrived) {
  is_open_ = false;
  if (const auto ended = reader_->end(); !ended) refuse("", ended.error(), arrived);
}

void LineReader::refuse(std::string_view line, const Error& why, Arrived& arrived) const {
  arrived.dead.push_back(
      {name_ + ":" + std::to_string(first_), why.message, reader_->refused(line)});
}

}  // namespace gorgo::doors

#include "journal/segment_reader.hpp"

#include <algorithm>
#include <utility>

#include "journal/packing.hpp"

namespace gorgo::journal {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

/// Behind the last byte that is not zero.
std::size_t end_of_content(Bytes bytes) {
  std::size_t end = bytes.size();
  while (end > 0 && bytes[end - 1] == std::byte{0}) --end;
  return end;
}

}  // namespace

SegmentReader::SegmentReader(std::unique_ptr<File> file, std::string path, Place first)
    : file_(std::move(file)), path_(std::move(path)), first_(first) {}

Result<SegmentReader> SegmentReader::open(std::unique_ptr<File> file, std::string path,
                                          Place first) {
  SegmentReader reader(std::move(file), std::move(path), first);
  const auto size = reader.file_->size();
  if (!size) return size.error();
  reader.size_ = *size;
  const auto bytes = reader.bytes_at(0, sizeof(SegmentHeader));
  if (!bytes) return bytes.error();
  reader.state_ = check(*bytes, reader.header_);
  const bool whole = reader.state_ == HeaderState::whole;
  if (whole && reader.header_.first != first) reader.state_ = HeaderState::damaged;
  if (whole) reader.set_journal(reader.header_.journal);
  return {std::in_place, std::move(reader)};
}

Result<Bytes> SegmentReader::bytes_at(std::uint64_t offset, std::size_t count) {
  count = std::min<std::uint64_t>(count, size_ - std::min(offset, size_));
  const std::uint64_t buffered = buffer_offset_ + buffer_.size();
  if (offset < buffer_offset_ || offset + count > buffered) {
    buffer_.resize(std::min<std::uint64_t>(std::max(count, kChunk), size_ - offset));
    buffer_offset_ = offset;
    const auto got = read_all(*file_, offset, buffer_);
    if (!got) {
      buffer_.clear();
      return got.error();
    }
    buffer_.resize(*got);
    count = std::min(count, *got);
  }
  return Bytes(buffer_).subspan(offset - buffer_offset_, count);
}

Result<std::optional<Record>> SegmentReader::next() {
  auto bytes = bytes_at(offset_, sizeof(RecordHeader));
  if (!bytes) return bytes.error();
  const auto header = record_header(*bytes, seed_);
  if (!header) return std::optional<Record>();
  bytes = bytes_at(offset_, record_bytes(header->length));
  if (!bytes) return bytes.error();
  const Bytes body = bytes->subspan(sizeof(RecordHeader));
  if (!is_whole(*header, seed_, body)) return std::optional<Record>();
  Record record{header->place, header->durable, header->kind, body.first(header->length)};
  if ((record.kind & kPacked) != 0) {
    if (!unpack(record.payload, unpacked_)) {
      return Error{path_ + ", byte " + std::to_string(offset_) + ": the record of place " +
                       std::to_string(record.place) + " is packed in an unknown way",
                   "it was written by another program"};
    }
    record.payload = unpacked_;
    record.kind ^= kPacked;
  }
  offset_ += bytes->size();
  return std::optional(record);
}

Result<SegmentReader::Gap> SegmentReader::gap() {
  auto bytes = bytes_at(offset_, sizeof(RecordHeader));
  if (!bytes) return bytes.error();
  if (end_of_content(*bytes) == 0) return Gap::end;
  if (bytes->size() < sizeof(RecordHeader)) return Gap::torn;
  const auto header = record_header(*bytes, seed_);
  if (header) {
    const std::uint64_t count = record_bytes(header->length);
    bytes = bytes_at(offset_, count);
    if (!bytes) return bytes.error();
    if (bytes->size() < count) return Gap::torn;
  }
  return may_be_torn(offset_, *bytes) ? Gap::torn : Gap::damaged;
}

Result<SegmentReader::Rest> SegmentReader::rest() {
  Rest rest;
  if (state_ == HeaderState::whole) rest.durable = header_.durable;
  for (std::uint64_t at = offset_; at < size_;) {
    const auto bytes = bytes_at(at, kChunk);
    if (!bytes) return bytes.error();
    if (bytes->empty()) break;
    if (const auto end = end_of_content(*bytes); end > 0) rest.bytes = at + end - offset_;
    for (std::size_t i = 0; i + kUnit <= bytes->size(); i += kUnit) {
      const auto header = record_header(bytes->subspan(i), seed_);
      if (header) rest.durable = std::max(rest.durable, header->durable);
    }
    at += bytes->size();
  }
  return rest;
}

}  // namespace gorgo::journal

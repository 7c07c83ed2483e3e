#include "journal/record_maker.hpp"

namespace gorgo::journal {

std::span<const Bytes> RecordMaker::make(const RecordHeader& header, std::uint16_t kind,
                                         std::uint32_t seed, std::span<const Bytes> parts) {
  header_ = header;
  header_.kind = kind;
  const bool is_worth_it = kind >= kFirstKind && length_of(parts) >= kLeastPacked;
  const Bytes packed = is_worth_it ? packer_.pack(parts) : Bytes();
  record_.assign({Bytes()});
  if (packed.empty()) {
    record_.insert(record_.end(), parts.begin(), parts.end());
  } else {
    record_.push_back(packed);
    header_.kind |= kPacked;
  }
  const auto payload = std::span<const Bytes>(record_).subspan(1);
  header_.length = static_cast<std::uint32_t>(length_of(payload));
  header_ = seal(header_, seed, payload);
  record_.front() = std::as_bytes(std::span(&header_, 1));
  record_.push_back(padding_of(header_.length));
  return record_;
}

}  // namespace gorgo::journal

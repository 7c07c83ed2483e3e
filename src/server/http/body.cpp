#include "server/http/body.hpp"

#include <zlib.h>

#include <array>
#include <cstdint>
#include <new>
#include <nlohmann/json.hpp>

#include "codec/parse_json.hpp"

namespace gorgo::server::http {
namespace {

/// What a stream of zlib takes by its documentation, with the dictionary of the largest window.
constexpr std::size_t kInflateMemory = std::size_t{44} << 10;

Problem broken_gzip(const char* what) {
  return {400, {std::string("the body is no whole gzip: ") + what, "compress it with gzip"}};
}

}  // namespace

Problem body_too_large(std::size_t max_bytes) {
  return {413,
          {"the body has more than " + std::to_string(max_bytes) + " bytes, inflated",
           "send less at once, or raise http.max_body_bytes"}};
}

Result<nlohmann::ordered_json> TextBody::json() const {
  auto read = codec::read_json<nlohmann::ordered_json>(text_);
  if (read.value.is_discarded()) return Error{"the body is no JSON", ""};
  if (read.repeated) {
    return Error{"'" + read.repeated->name + "' stands twice in the body", "leave one of them out"};
  }
  return std::move(read.value);
}

Checked TextBody::put(std::string_view bytes) {
  if (bytes.size() > max_bytes_ - text_.size()) return body_too_large(max_bytes_);
  text_ += bytes;
  return {};
}

struct GzipBody::Stream {
  z_stream z = {};
  std::array<char, std::size_t{16} << 10> out;
  bool ended = false;  // behind the end of a member
  bool begun = false;
};

GzipBody::GzipBody(Body& inner, std::size_t max_bytes)
    : inner_(inner), max_bytes_(max_bytes), stream_(std::make_unique<Stream>()) {
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream_->z, kGzip) != Z_OK) throw std::bad_alloc();
}

GzipBody::~GzipBody() { inflateEnd(&stream_->z); }

std::size_t GzipBody::memory() const { return sizeof(Stream) + kInflateMemory + inner_.memory(); }

Checked GzipBody::put(std::string_view bytes) {
  z_stream& z = stream_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  bool full = false;  // there may be more to come of what is inside
  while (z.avail_in > 0 || full) {
    if (stream_->ended) {  // a gzip may have several members
      inflateReset(&z);
      stream_->ended = false;
    }
    if (auto problem = inflate_some()) return problem;
    full = z.avail_out == 0 && !stream_->ended;
  }
  return {};
}

Checked GzipBody::inflate_some() {
  z_stream& z = stream_->z;
  auto& out = stream_->out;
  stream_->begun = true;
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int outcome = inflate(&z, Z_NO_FLUSH);
  if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
  if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR) {
    return broken_gzip(z.msg == nullptr ? "it is broken" : z.msg);
  }
  stream_->ended = outcome == Z_STREAM_END;
  const std::size_t size = out.size() - z.avail_out;
  inflated_ += size;
  if (inflated_ > max_bytes_) return body_too_large(max_bytes_);
  return inner_.put({out.data(), size});
}

Checked GzipBody::finish() {
  if (stream_->begun && !stream_->ended) return broken_gzip("its end is missing");
  if (!stream_->begun) return broken_gzip("it is empty");
  return inner_.finish();
}

}  // namespace gorgo::server::http

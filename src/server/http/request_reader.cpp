#include "server/http/request_reader.hpp"

#include <algorithm>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <string>

namespace gorgo::server::http {
namespace {

namespace beast = boost::beast;
using Failure = beast::http::error;

/// What is read at once.
constexpr std::size_t kChunk = std::size_t{64} << 10;

Problem problem_of(const beast::error_code& failure, const HttpOptions& options) {
  if (failure == Failure::header_limit) {
    return {431,
            {"the head of the request has more than " + std::to_string(options.max_header_bytes) +
                 " bytes",
             "send fewer or shorter headers, or raise http.max_header_bytes"}};
  }
  if (failure == Failure::body_limit) return body_too_large(options.max_body_bytes);
  if (failure == Failure::bad_version) {
    return {505, {"this server speaks HTTP/1.0 and HTTP/1.1", ""}};
  }
  return {400, {"this is no request of HTTP/1.1: " + failure.message(), ""}};
}

}  // namespace

template <class Buffers>
std::size_t PassedOnBody::reader::put(const Buffers& buffers, beast::error_code& failure) {
  std::size_t size = 0;
  failure = {};
  for (const auto buffer : beast::buffers_range_ref(buffers)) {
    size += buffer.size();
    if (value_.to == nullptr) {
      value_.problem = {400, {"this request takes no body", "leave the body out"}};
    } else {
      value_.problem = value_.to->put({static_cast<const char*>(buffer.data()), buffer.size()});
    }
    if (!value_.problem) continue;
    failure = Failure::bad_value;  // the problem says more
    break;
  }
  return size;
}

RequestReader::RequestReader(const HttpOptions& options) : options_(options) {}

void RequestReader::next_request() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(options_.max_header_bytes));
  parser_->body_limit(options_.max_body_bytes);
  problem_.reset();
  seen_ = 0;
}

void RequestReader::clear() {
  parser_.reset();
  bytes_ = {};
}

boost::asio::mutable_buffer RequestReader::space() { return bytes_.prepare(kChunk); }

bool RequestReader::parse(std::size_t most) {
  const auto bytes = bytes_.data();
  beast::error_code failure;
  const std::size_t size = std::min(bytes.size(), std::max(most, seen_));
  const std::size_t parsed = parser_->put(boost::asio::buffer(bytes.data(), size), failure);
  bytes_.consume(parsed);
  seen_ = failure == Failure::need_more ? size - parsed : 0;
  if (failure == Failure::need_more) {
    // The limit is not checked for a line that has not ended, which may be one of the framing, too.
    const bool is_line = !parser_->is_header_done() || (parsed == 0 && size == bytes.size());
    const bool endless = is_line && bytes_.size() > options_.max_header_bytes;
    if (endless) problem_ = problem_of(Failure::header_limit, options_);
    // A line of the framing may be longer than what was looked at.
    if (!endless && parsed == 0 && size < bytes.size()) return parse(2 * size);
    return parsed > 0;
  }
  if (failure) {
    const Checked& said = parser_->get().body().problem;
    problem_ = said ? said : problem_of(failure, options_);
  }
  return true;
}

RequestReader::Step RequestReader::parse_head() {
  while (has_bytes() && !parser_->is_header_done() && !problem_) {
    if (!parse(bytes_.size())) break;
  }
  if (!problem_ && parser_->is_header_done()) {
    problem_ = check_head();
    return problem_ ? Step::failed : Step::done;
  }
  return problem_ ? Step::failed : Step::more;
}

Checked RequestReader::check_head() const {
  const auto& fields = head();
  const auto encoding = fields[beast::http::field::transfer_encoding];
  if (!encoding.empty() && !beast::iequals(encoding, "chunked")) {
    return Problem{501, {"of all transfer encodings this server knows only chunked", ""}};
  }
  if (fields.version() >= 11 && fields.count(beast::http::field::host) != 1) {
    return Problem{400, {"a request of HTTP/1.1 has one Host header", ""}};
  }
  return {};
}

bool RequestReader::has_body() const {
  const auto length = parser_->content_length();
  return parser_->chunked() || (length && *length > 0);
}

RequestReader::Step RequestReader::parse_body(Body* body, std::size_t most) {
  parser_->get().body().to = body;
  bool got_on = false;
  if (has_bytes() && !parser_->is_done()) got_on = parse(most);
  if (problem_) return Step::failed;
  if (!parser_->is_done()) return got_on ? Step::again : Step::more;
  if (body != nullptr) problem_ = body->finish();
  return problem_ ? Step::failed : Step::done;
}

}  // namespace gorgo::server::http

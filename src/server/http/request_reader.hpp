#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <cstddef>
#include <optional>

#include "server/http/body.hpp"
#include "server/http/message.hpp"
#include "server/options.hpp"

namespace gorgo::server::http {

/// Hands the body of a request to a `Body` while it is parsed.
struct PassedOnBody {
  struct value_type {
    Body* to = nullptr;  ///< null: the request must have no body
    Checked problem;
  };

  class reader {
   public:
    template <bool is_request, class Fields>
    reader(boost::beast::http::header<is_request, Fields>&, value_type& value) : value_(value) {}
    void init(const boost::optional<std::uint64_t>&, boost::beast::error_code& failure) {
      failure = {};
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& failure);
    void finish(boost::beast::error_code& failure) { failure = {}; }

   private:
    value_type& value_;
  };
};

/// Reads the requests of a connection, one after the other, from bytes as they come:
/// `next_request`, `parse_head` until it is done, then `parse_body` until that is done. Where they
/// need more bytes, those go into `space()`. What stands behind a request is kept for the next one.
class RequestReader {
 public:
  explicit RequestReader(const HttpOptions& options);

  enum class Step : std::uint8_t {
    more,   ///< bytes are needed
    again,  ///< it got on, call it again
    done,
    failed,  ///< see `problem`
  };

  /// Forgets the request before.
  void next_request();
  Step parse_head();
  /// Goes on with the body, for about `most` bytes of it, which go to `body`. Precondition: the
  /// head is done.
  Step parse_body(Body* body, std::size_t most);

  const boost::beast::http::request<PassedOnBody>& request() const { return parser_->get(); }
  const Head& head() const { return parser_->get().base(); }
  /// Whether the client wants to send another one. One of HTTP/1.0 never does.
  bool keep_alive() const { return parser_->keep_alive() && head().version() >= 11; }
  /// Whether a body follows the head. Precondition: the head is done.
  bool has_body() const;
  const Problem& problem() const { return *problem_; }

  /// Room for more bytes; `fill` says how many came.
  boost::asio::mutable_buffer space();
  void fill(std::size_t size) { bytes_.commit(size); }
  /// Whether bytes wait that were not parsed.
  bool has_bytes() const { return bytes_.size() > 0; }
  std::size_t memory() const { return bytes_.capacity(); }
  /// Gives back its memory.
  void clear();

 private:
  using Parser = boost::beast::http::request_parser<PassedOnBody>;

  const HttpOptions& options_;
  boost::beast::flat_buffer bytes_;
  std::optional<Parser> parser_;
  Checked problem_;
  std::size_t seen_ = 0;  // bytes in front that the parser has seen; it must see them again

  /// Parses about `most` bytes. Returns whether that got on.
  bool parse(std::size_t most);
  Checked check_head() const;
};

}  // namespace gorgo::server::http

#include <algorithm>
#include <string>
#include <string_view>

#include "server/http/api.hpp"
#include "server/http/page_files.hpp"

// The workbench: / and the paths of its pages, and the files below /assets. They are the same for
// everybody and say nothing about the server, so they are handed out to whoever asks.
namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;
using Field = boost::beast::http::field;

constexpr const char* kPolicy =
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'";

const PageFile* find_file(std::string_view path) {
  const auto found = std::ranges::find(page_files(), path, &PageFile::path);
  return found == page_files().end() ? nullptr : &*found;
}

std::string_view value_of(const Head& head, Field field) {
  const auto value = head[field];
  return {value.data(), value.size()};
}

Response send(const PageFile& file, const Head& head, const char* caching) {
  Response response{.status = 200, .content_type = std::string(file.content_type), .body = {}};
  response.headers = {{"ETag", std::string(file.etag)},      {"Cache-Control", caching},
                      {"Vary", "Accept-Encoding"},           {"Content-Security-Policy", kPolicy},
                      {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"}};
  if (value_of(head, Field::if_none_match).find(file.etag) != std::string_view::npos) {
    response.status = 304;
    return response;
  }
  const auto accepted = value_of(head, Field::accept_encoding);
  const bool brotli = has_word(accepted, "br"), gzip = has_word(accepted, "gzip");
  response.body = brotli ? file.brotli : gzip ? file.gzip : file.plain;
  if (brotli || gzip) response.headers.emplace_back("Content-Encoding", brotli ? "br" : "gzip");
  return response;
}

}  // namespace

asio::awaitable<Response> Api::page(const Call& call) {
  const PageFile* index = find_file("index.html");
  if (index == nullptr) {
    const Problem problem{
        501,
        {"this server was built without the workbench",
         "build it where Node.js 18 or newer and npm are, which cmake looks for"}};
    co_return response_of(problem);
  }
  co_return send(*index, call.head, "no-cache");
}

asio::awaitable<Response> Api::asset(const Call& call) {
  const PageFile* file = find_file("assets/" + call.parameters.front());
  if (file == nullptr) {
    const Problem problem{404, {"the workbench has no such file", "load its page anew"}};
    co_return response_of(problem);
  }
  // A file that changes has another name from then on.
  co_return send(*file, call.head, "public, max-age=31536000, immutable");
}

}  // namespace gorgo::server::http

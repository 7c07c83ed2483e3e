#pragma once

#include <gmock/gmock.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "support.hpp"

namespace gorgo::server {

using Json = nlohmann::json;

/// A response as it came.
struct HttpResponse {
  unsigned status = 0;  ///< 0: the connection was closed before
  std::map<std::string, std::string> headers;
  std::string body;

  Json json() const { return Json::parse(body, nullptr, false); }
};

/// A connection that speaks HTTP, correctly or not. Names of headers are told as the server writes
/// them.
class HttpConnection {
 public:
  explicit HttpConnection(const std::string& address) {
    const auto colon = address.rfind(':');
    boost::asio::ip::tcp::resolver resolver(io_);
    boost::asio::connect(socket_,
                         resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
    socket_.set_option(boost::asio::ip::tcp::no_delay(true));
  }

  void send(std::string_view bytes) {
    boost::system::error_code closed;  // the server may refuse before it has read all
    boost::asio::write(socket_, boost::asio::buffer(bytes), closed);
  }
  /// Sends a request with a body and the headers, lines with their ends.
  void request(const std::string& method, const std::string& target, std::string_view body = "",
               const std::string& headers = "") {
    std::string text = method + " " + target + " HTTP/1.1\r\nHost: test\r\n" + headers;
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    send(text + "\r\n" + std::string(body));
  }
  HttpResponse receive(bool to_head = false) {
    HttpResponse response;
    std::string line = this->line();
    if (!line.starts_with("HTTP/1.1 ")) return response;
    response.status = static_cast<unsigned>(std::stoul(line.substr(9)));
    for (line = this->line(); !line.empty(); line = this->line()) {
      const auto colon = line.find(": ");
      response.headers[line.substr(0, colon)] = line.substr(colon + 2);
    }
    const auto length = response.headers.find("Content-Length");
    if (!to_head && length != response.headers.end())
      response.body = bytes(std::stoul(length->second));
    return response;
  }
  HttpResponse ask(const std::string& method, const std::string& target, std::string_view body = "",
                   const std::string& headers = "") {
    request(method, target, body, headers);
    return receive(method == "HEAD");
  }
  /// The next line without its end; empty at the end of the connection, too.
  std::string line() {
    while (read_.find('\n') == std::string::npos && read_some()) {
    }
    const auto end = read_.find('\n');
    if (end == std::string::npos) return "";
    std::string line = read_.substr(0, end);
    read_.erase(0, end + 1);
    if (line.ends_with('\r')) line.pop_back();
    return line;
  }
  std::string bytes(std::size_t size) {
    while (read_.size() < size && read_some()) {
    }
    const std::string bytes = read_.substr(0, size);
    read_.erase(0, size);
    return bytes;
  }
  /// Whether the server has closed the connection, behind what was read.
  bool is_closed() { return read_.empty() && !read_some(); }
  void stop_sending() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
  void close() { socket_.close(); }
  boost::asio::ip::tcp::socket& socket() { return socket_; }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_{io_};
  std::string read_;

  bool read_some() {
    char bytes[16384];
    boost::system::error_code failure;
    const auto size = socket_.read_some(boost::asio::buffer(bytes), failure);
    read_.append(bytes, size);
    return !failure;
  }
};

inline ServerOptions with_http(ServerOptions options = {}) {
  options.http.listen = "127.0.0.1:0";
  return options;
}

/// Where the server speaks HTTP.
inline std::string http_address(RunningServer& server) {
  for (const std::string& line : server->lines()) {
    if (line.starts_with("http on ")) return line.substr(8);
  }
  ADD_FAILURE() << "no port for HTTP";
  return "";
}

inline std::string event_line(const std::string& type, std::int64_t x) {
  return R"({"type":")" + type + R"(","attrs":{"x":)" + std::to_string(x) + "}}\n";
}

}  // namespace gorgo::server

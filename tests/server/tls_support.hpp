#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "server/options.hpp"
#include "support.hpp"

namespace gorgo::server {

/// The commands of docs/security.md that call openssl.
inline std::vector<std::string> certificate_commands() {
  std::vector<std::string> commands;
  std::ifstream file(GORGO_DOCS "/security.md");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("openssl ")) commands.push_back(line);
  }
  return commands;
}

/// A folder with certificates, made by the commands of the documentation.
class Certificates {
 public:
  Certificates() {
    static int number = 0;
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("gorgo_tls_" + std::to_string(getpid()) + "_" + std::to_string(++number));
    std::filesystem::create_directories(folder_);
    for (const std::string& command : certificate_commands()) run(command);
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Runs a command of the shell in the folder.
  void run(const std::string& command) const {
    const std::string all = "cd '" + folder_.string() + "' && " + command + " >/dev/null 2>&1";
    EXPECT_EQ(std::system(all.c_str()), 0) << command;
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    std::filesystem::permissions(
        path(name), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return path(name);
  }

  ServerOptions server(ServerOptions options = {}) const {
    options.tls.certificate = path("server.pem");
    options.tls.key = path("server.key");
    options.tls.client_ca = path("ca.pem");
    return options;
  }
  ClientOptions client() const {
    return {.tls = {.enabled = true, .ca = path("ca.pem"), .certificate = {}, .key = {}}};
  }
  /// The client that the certificate NAME.pem stands for.
  ClientOptions client(const std::string& name) const {
    ClientOptions options = client();
    options.tls.certificate = path(name + ".pem");
    options.tls.key = path(name + ".key");
    return options;
  }

 private:
  std::filesystem::path folder_;
};

/// A connection under TLS that trusts everybody, for protocols and for misbehaviour.
class TlsConnection {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  explicit TlsConnection(const std::string& address, boost::asio::ssl::context::method method =
                                                         boost::asio::ssl::context::tls_client)
      : TlsConnection(address, boost::asio::ssl::context(method)) {}
  /// One that shows the certificate of the options.
  TlsConnection(const std::string& address, const ClientOptions& options)
      : TlsConnection(address, context_of(options)) {}

  /// Why there is no connection; none: there is one.
  boost::system::error_code failure() const { return failure_; }
  void send(std::string_view bytes) {
    boost::asio::write(stream_, boost::asio::buffer(bytes), failure_);
  }
  /// All that comes until the connection ends, or until `end` has come.
  std::string receive(std::string_view end = "") {
    std::string all;
    char bytes[4096];
    while (end.empty() || all.find(end) == all.npos) {
      const std::size_t size = stream_.read_some(boost::asio::buffer(bytes), failure_);
      all.append(bytes, size);
      if (failure_) break;
    }
    return all;
  }
  bool ended_in_order() const { return failure_ == boost::asio::error::eof; }
  Socket& socket() { return stream_.next_layer(); }

 private:
  boost::asio::io_context io_;
  boost::asio::ssl::context context_;
  boost::asio::ssl::stream<Socket> stream_;
  boost::system::error_code failure_;

  TlsConnection(const std::string& address, boost::asio::ssl::context context)
      : context_(std::move(context)), stream_(io_, context_) {
    const auto colon = address.rfind(':');
    boost::asio::ip::tcp::resolver resolver(io_);
    boost::asio::connect(stream_.next_layer(),
                         resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
    stream_.handshake(boost::asio::ssl::stream_base::client, failure_);
  }

  static boost::asio::ssl::context context_of(const ClientOptions& options) {
    boost::asio::ssl::context context(boost::asio::ssl::context::tls_client);
    context.use_certificate_chain_file(options.tls.certificate);
    context.use_private_key_file(options.tls.key, boost::asio::ssl::context::pem);
    return context;
  }
};

}  // namespace gorgo::server

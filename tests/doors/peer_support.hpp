#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

/// What others wrote and doors lead to, and the network in between.
namespace gorgo {

inline int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  close(socket);
  return ntohs(address.sin_port);
}

using Command = std::vector<std::string>;

/// A program of others, which ends with the test.
class Peer {
 public:
  explicit Peer(Command command) {
    std::vector<char*> arguments;
    for (std::string& one : command) arguments.push_back(one.data());
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    close_range(STDERR_FILENO + 1, ~0u, 0);  // connections of the test, which it may want to break
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  ~Peer() { end(SIGKILL); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void end(int signal) {
    if (pid_ <= 0) return;
    kill(pid_, signal);
    wait();
  }
  /// Precondition: it was not waited for. (A pid of -1 would be that of every process.)
  void signal(int signal) const {
    ASSERT_GT(pid_, 0);
    kill(pid_, signal);
  }
  /// The exit status; -1 when a signal ended it.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
};

/// Certificates that are their own authorities, each NAME.pem with NAME.key in the folder: `right`
/// is for 127.0.0.1, and so is `other`; `stranger` is for another host.
inline void make_certificates(const std::string& folder) {
  const auto make = [&](const std::string& name, const std::string& host) {
    const std::string path = folder + "/" + name;
    EXPECT_EQ(
        Peer({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
              "-nodes", "-keyout", path + ".key", "-out", path + ".pem", "-days", "2", "-subj",
              "/CN=" + name, "-addext", "subjectAltName=" + host})
            .wait(),
        0);
  };
  make("right", "IP:127.0.0.1");
  make("other", "IP:127.0.0.1");
  make("stranger", "DNS:stranger.example");
}

/// The network between Gorgo and a broker, which can be cut.
class Network {
 public:
  explicit Network(const std::string& to) : to_(to) {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Network() {
    io_.stop();
    thread_.join();
  }

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  int port() const { return acceptor_.local_endpoint().port(); }
  /// Breaks all connections.
  void cut() {
    boost::asio::post(io_, [this] {
      for (const auto& one : connections_) one->close();
    });
  }

 private:
  using Tcp = boost::asio::ip::tcp;
  struct Connection {
    explicit Connection(boost::asio::io_context& io) : client(io), broker(io) {}
    Tcp::socket client, broker;
    std::array<char, 4096> from_client{}, from_broker{};

    void close() {
      boost::system::error_code ignored;
      client.close(ignored);
      broker.close(ignored);
    }
  };

  const std::string to_;
  boost::asio::io_context io_;
  Tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
  std::list<std::shared_ptr<Connection>> connections_;
  std::thread thread_;

  void accept() {
    auto one = std::make_shared<Connection>(io_);
    acceptor_.async_accept(one->client, [this, one](auto failure) {
      if (failure) return;
      boost::system::error_code refused;
      Tcp::resolver resolver(io_);
      const auto colon = to_.rfind(':');
      boost::asio::connect(one->broker,
                           resolver.resolve(to_.substr(0, colon), to_.substr(colon + 1)), refused);
      if (refused) one->close();
      connections_.push_back(one);
      pass(one, one->client, one->broker, one->from_client);
      pass(one, one->broker, one->client, one->from_broker);
      accept();
    });
  }
  void pass(std::shared_ptr<Connection> one, Tcp::socket& from, Tcp::socket& to,
            std::array<char, 4096>& bytes) {
    from.async_read_some(boost::asio::buffer(bytes), [this, one, &from, &to, &bytes](
                                                         auto failure, std::size_t size) {
      boost::system::error_code broken;
      if (!failure) {
        boost::asio::write(to, boost::asio::buffer(bytes.data(), size), broken);
      }
      if (failure || broken) return one->close();
      pass(one, from, to, bytes);
    });
  }
};

}  // namespace gorgo

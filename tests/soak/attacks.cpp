#include "attacks.hpp"

#include <sys/stat.h>

#include <array>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "frames.hpp"
#include "socket.hpp"

namespace gorgo::soak {
namespace {

namespace fs = std::filesystem;

Socket greeted(const Target& target) {
  Socket socket(target.port);
  socket.greet();
  return socket;
}

/// Holds what the caller has opened for some seconds.
void stay(const Target& target, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!target.stop && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

/// Sends a frame several times and reads the replies.
void repeat(const Target& target, const protocol::Bytes& frame, int times) {
  Socket socket = greeted(target);
  for (int i = 0; i < times && !target.stop; ++i) socket.send(frame);
  for (int i = 0; i < times && !target.stop; ++i) socket.receive();
}

// Publications

void wide_table(const Target& target) {
  static const auto frame = bool_table("Wide", 1000, 2000, std::string(900, 'w'));
  repeat(target, frame, 2);
}

void many_cells(const Target& target) {
  static const auto frame = bool_table("Cells", 6000, 1000, "c");
  repeat(target, frame, 2);
}

void bare_rows(const Target& target) {
  static const auto frame = bool_table("Bare", 65536, 0, "");
  repeat(target, frame, 100);
}

void large_events(const Target& target) {
  static const auto frame = text_event("Large", (std::size_t{16} << 20) - 4096);
  repeat(target, frame, 4);
}

void fast_clock(const Target& target) {
  Socket socket = greeted(target);
  for (int i = 0; i < 100 && !target.stop; ++i) {
    for (const std::int64_t seconds : {3, 15, 59, 3600}) {
      socket.send(stamped_events("Ahead", 1, seconds * 1'000'000'000));
      socket.receive();
    }
  }
}

// Rules

void deployments(const Target& target) {
  Socket socket = greeted(target);
  for (std::uint64_t i = 0; i < 2000 && !target.stop; ++i) {
    const std::string n = std::to_string(i);
    socket.send(
        deploy_frame(i + 2, "many" + n + ".tesla",
                     "rule many" + n + ": define Many" + n + "() from Any(x > " + n + ");"));
  }
}

void removals(const Target& target) {
  Socket socket = greeted(target);
  for (std::uint64_t i = 0; i < 2000 && !target.stop; ++i) {
    wire::RemoveT remove;
    remove.rule = "many" + std::to_string(i);
    socket.send(i + 2, remove);
  }
  for (int i = 0; i < 2000 && socket.is_open(); ++i) socket.receive();
}

void large_rule_file(const Target& target) {
  static const std::string text = [] {
    std::string rules;
    for (int i = 0; i < 20'000; ++i) {
      const std::string n = std::to_string(i);
      rules += "rule large" + n + ": define L" + n + "() from Any(x > " + n + ");\n";
    }
    return rules + "rule broken: define Broken() from Any(;\n";
  }();
  repeat(target, deploy_frame(2, "large.tesla", text), 1);
}

void rule_lists(const Target& target) {
  Socket socket = greeted(target);
  for (std::uint64_t i = 0; i < 500 && !target.stop; ++i) socket.send(i + 2, wire::ListRulesT());
}

/// Each of the last events has 90 000 composites.
void exploding_rule(const Target& target) {
  Socket socket = greeted(target);
  socket.send(
      deploy_frame(2, "explode.tesla",
                   "rule explode: define Explosion() from End() and each Bit() as One within 1 h "
                   "from End and each Bit() as Two within 1 h from End;"));
  socket.receive();
  socket.send(bool_table("Bit", 300, 0, ""));
  socket.receive();
  socket.send(bool_table("End", 5, 0, ""));
  socket.receive();
  wire::RemoveT remove;
  remove.rule = "explode";
  socket.send(3, remove);
  socket.receive();
}

// Connections

void half_frames(const Target& target) {
  std::vector<Socket> sockets;
  protocol::Bytes half(std::size_t{15} << 20, 0);
  flatbuffers::WriteScalar(half.data(), static_cast<std::uint32_t>(half.size()));
  half.resize(half.size() - 100);
  while (sockets.size() < 100 && !target.stop) {
    sockets.push_back(greeted(target));
    sockets.back().send(half);
  }
  stay(target, 5);
}

void idle_clients(const Target& target) {
  std::vector<Socket> sockets;
  while (sockets.size() < 1000 && !target.stop) sockets.push_back(greeted(target));
  stay(target, 5);
}

void silent_connections(const Target& target) {
  std::vector<Socket> sockets;
  while (sockets.size() < 200 && !target.stop) sockets.emplace_back(target.port);
  stay(target, 5);
}

void resets(const Target& target) {
  static const auto frame = bool_table("Reset", 100, 3, "r");
  for (int i = 0; i < 100 && !target.stop; ++i) {
    Socket socket = greeted(target);
    socket.send(frame);
    socket.reset();
  }
}

void malformed_frames(const Target& target) {
  Socket socket = greeted(target);
  auto frame = protocol::encode(2, wire::ListRulesT());
  for (std::size_t i = 12; i < frame.size(); ++i) frame[i] = 0xee;
  for (int i = 0; i < 5000 && !target.stop; ++i) socket.send(frame);
}

// Subscriptions and declarations

void slow_subscriber(const Target& target) {
  Socket socket = greeted(target);
  wire::SubscribeT subscribe;
  subscribe.subscription = 1;
  subscribe.text = "*";
  socket.send(2, subscribe);
  stay(target, 8);
  while (!target.stop && socket.receive()) {
  }
}

void long_subscriptions(const Target& target) {
  Socket socket = greeted(target);
  for (std::uint32_t i = 0; i < 50 && !target.stop; ++i) {
    wire::SubscribeT subscribe;
    subscribe.subscription = i;
    subscribe.text = "T(x = \"" + std::string(1 << 20, static_cast<char>('a' + i % 26)) + "\")";
    socket.send(2 * i + 2, subscribe);
    wire::UnsubscribeT unsubscribe;
    unsubscribe.subscription = i;
    socket.send(2 * i + 3, unsubscribe);
    socket.receive();
    socket.receive();
  }
}

void declarations(const Target& target) {
  Socket socket = greeted(target);
  for (const std::string& name : {std::string(), std::string(5000, 'n'), std::string("Twice")}) {
    wire::DeclareT declare;
    declare.name = name;
    for (int i = 0; i < 2; ++i) {
      declare.attributes.push_back(std::make_unique<wire::AttributeTypeT>());
      declare.attributes.back()->name = "a";
    }
    socket.send(2, declare);
    socket.receive();
  }
}

// Rule files

/// The server's rule folder gets what is no rule file, and goes away for a moment.
void rule_files(const Target& target) {
  const fs::path fifo = target.rules / "fifo.tesla", folder = target.rules / "folder.tesla";
  const fs::path away = target.rules.string() + ".away";
  mkfifo(fifo.c_str(), 0600);
  fs::create_directory(folder);
  std::ofstream(target.rules / "broken.tesla") << "rule broken: define";
  target.reload();
  stay(target, 1);
  fs::rename(target.rules, away);
  target.reload();
  stay(target, 1);
  fs::rename(away, target.rules);
  for (const auto& path : {fifo, folder, target.rules / "broken.tesla"}) fs::remove(path);
  target.reload();
  stay(target, 1);
}

constexpr std::array kAttacks = {
    Attack{"wide table", wide_table},
    Attack{"many cells", many_cells},
    Attack{"bare rows", bare_rows},
    Attack{"large events", large_events},
    Attack{"fast clock", fast_clock},
    Attack{"deployments", deployments},
    Attack{"removals", removals},
    Attack{"large rule file", large_rule_file},
    Attack{"rule lists", rule_lists},
    Attack{"exploding rule", exploding_rule},
    Attack{"half frames", half_frames},
    Attack{"idle clients", idle_clients},
    Attack{"silent connections", silent_connections},
    Attack{"resets", resets},
    Attack{"malformed frames", malformed_frames},
    Attack{"slow subscriber", slow_subscriber},
    Attack{"long subscriptions", long_subscriptions},
    Attack{"declarations", declarations},
    Attack{"rule files", rule_files},
};

}  // namespace

std::span<const Attack> attacks() { return kAttacks; }

}  // namespace gorgo::soak

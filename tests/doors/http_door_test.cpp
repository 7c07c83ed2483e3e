#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "door_support.hpp"
#include "peer_support.hpp"

// What answers is the server of HTTP that Python has, which knows If-Modified-Since, and
// If-None-Match with the few lines below.
namespace gorgo::http_door {
namespace {

using testing::HasSubstr;

constexpr const char* kServer = R"(
import hashlib, http.server, pathlib, ssl, sys
class Tagged(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        body = pathlib.Path(self.path[1:]).read_bytes()
        tag = '"' + hashlib.sha1(body).hexdigest() + '"'
        known = self.headers.get("If-None-Match") == tag
        self.send_response(304 if known else 200)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", "0" if known else str(len(body)))
        self.end_headers()
        if not known:
            self.wfile.write(body)
        print(self.command, 304 if known else 200, file=open("requests", "a"))
    def log_message(self, *_):
        pass
handler = http.server.SimpleHTTPRequestHandler if sys.argv[2] == "plain" else Tagged
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), handler)
if sys.argv[2] not in ("plain", "tagged"):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2] + ".pem", sys.argv[2] + ".key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
)";

class HttpDoor : public testing::TestWithParam<const char*> {
 protected:
  const Folder folder{"http"};
  const std::string port = std::to_string(free_port());
  std::optional<Peer> peer;

  void SetUp() override {
    folder.write("server.py", kServer);
    start();
  }
  void start() {
    peer.emplace(Command{"sh", "-c",
                         "cd '" + (folder / "").string() + "' && exec python3 server.py " + port +
                             " " + GetParam() + " 2>/dev/null"});
  }
  std::string door(const std::string& file, const std::string& more) const {
    return "[doors.feed]\nkind = \"http\"\nevery = 1\nurl = \"http://127.0.0.1:" + port + "/" +
           file + "\"\n" + more;
  }
};

TEST_P(HttpDoor, EachBodyIsTakenOnceWhoeverIsKilled) {
  const auto put = [&](int first, int last) {
    std::string text = "v\n";
    for (int v = first; v <= last; ++v) text += std::to_string(std::int64_t{1} << 32 | v) + "\n";
    folder.write("new.csv", text);
    fs::rename(folder / "new.csv", folder / "feed.csv");
  };
  ServerWithDoors server(folder, door("feed.csv", "format = \"csv\"\ntype = \"A\"\n"));
  begin_checks(server);
  put(1, 20'000);
  server.kill_and_start();
  std::int64_t last = 20'000;
  const auto received_all = [&] {
    checker::Progress progress;
    checker::Received received(progress);
    const std::atomic<bool> ended = true;
    received.run([&] { return server.address(); }, ended,
                 [&](const checker::Received& so_far) {
                   const auto got = so_far.last();
                   return !got.empty() && got.begin()->second >= last;
                 });
    return static_cast<std::int64_t>(received.events());
  };
  {
    auto client = server.client();
    wait_for_door(client, "feed",
                  [](const Door& seen) { return seen.position.starts_with("20001 of the body"); });
  }
  peer.reset();
  put(20'001, 30'000);
  // The server knows a file by its time, in whole seconds.
  fs::last_write_time(folder / "feed.csv",
                      fs::file_time_type::clock::now() + std::chrono::seconds(10));
  last = 30'000;
  start();
  server.kill_and_start();
  EXPECT_EQ(received_all(), last);
  EXPECT_EQ(server.stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(Servers, HttpDoor, testing::Values("plain", "tagged"));

class PlainHttpDoor : public HttpDoor {};

TEST_P(PlainHttpDoor, FailsUntilThereIsSomething) {
  ServerWithDoors server(folder, door("feed.json", "format = \"json\"\ntype = \"A\"\n"));
  auto client = server.client();
  std::set<std::string> states;
  wait_for_door(client, "feed", [&](const Door& seen) {
    if (seen.failures > 0) states.insert(seen.state);
    return seen.failures > 3;
  });
  EXPECT_THAT(states, testing::ElementsAre("failing"));
  folder.write("feed.json", R"({"v":1})");
  wait_for_door(client, "feed",
                [](const Door& seen) { return seen.events == 1 && seen.state == "running"; });
  EXPECT_EQ(server.stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(Servers, PlainHttpDoor, testing::Values("plain"));

class TaggedHttpDoor : public HttpDoor {};

TEST_P(TaggedHttpDoor, ObjectsComeFromArraysAndWhatIsNotThereIsAFailure) {
  folder.write("feed.json", R"([{"type":"A","v":1},{"type":"A","v":2},7])");
  ServerWithDoors server(folder,
                         door("feed.json", "format = \"json\"\n") +
                             "[doors.gone]\nkind = \"http\"\nurl = \"http://127.0.0.1:1/\"\n");
  auto client = server.client();
  const auto feed =
      wait_for_door(client, "feed", [](const Door& seen) { return seen.events == 2; });
  EXPECT_EQ(feed.dead_letters, 1u);
  EXPECT_THAT(feed.position, HasSubstr("3 of the body"));
  const Patience patience("for requests that are answered by 304");
  const auto is_known = [&] {
    const auto requests = folder.lines("requests");
    return !requests.empty() && requests.back() == "GET 304";
  };
  while (!is_known() && patience.lasts())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto gone =
      wait_for_door(client, "gone", [](const Door& seen) { return seen.state == "failing"; });
  EXPECT_THAT(gone.problem, HasSubstr("http://127.0.0.1:1/"));
  EXPECT_EQ(server.stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(Servers, TaggedHttpDoor, testing::Values("tagged"));

/// By the certificate that the server has.
class HttpsDoor : public HttpDoor {
 protected:
  void SetUp() override {
    make_certificates((folder / "").string());
    HttpDoor::SetUp();
  }
  std::string trusting(const std::string& name) const {
    return "[doors.feed]\nkind = \"http\"\nevery = 1\nformat = \"json\"\nurl = "
           "\"https://127.0.0.1:" +
           port + "/feed.json\"\nca = \"" + (folder / (name + ".pem")).string() + "\"\n";
  }
};

TEST_P(HttpsDoor, AServerIsKnownByItsCertificate) {
  const std::string certificate = GetParam();
  folder.write("feed.json", R"([{"type":"A","v":1}])");
  if (certificate == "stranger") return expect_no_trust(folder, trusting("stranger"), "feed");
  {
    ServerWithDoors server(folder, trusting("right"));
    auto client = server.client();
    wait_for_door(client, "feed", [](const Door& seen) { return seen.events == 1; });
    EXPECT_EQ(server.stop(), 0);
  }
  expect_no_trust(folder, trusting("other"), "feed");
}

INSTANTIATE_TEST_SUITE_P(Certificates, HttpsDoor, testing::Values("right", "stranger"));

}  // namespace
}  // namespace gorgo::http_door

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "command_line.hpp"

/// `gorgo lsp`, as an editor meets it: sessions that were recorded. In their files `> ` begins what
/// the editor sends, `< ` what it gets, `#` a comment.
namespace gorgo::tools {
namespace {

using LspJson = nlohmann::json;

const std::filesystem::path kSessions = GORGO_SOURCE_DIR "/tests/tools/lsp";

struct Session {
  std::string sent;  ///< with headers
  std::vector<LspJson> received;
};

std::string framed(const std::string& content) {
  return "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

Session read_session(const std::filesystem::path& path) {
  Session session;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("> ")) session.sent += framed(line.substr(2));
    if (line.starts_with("< ")) session.received.push_back(LspJson::parse(line.substr(2)));
  }
  return session;
}

/// The contents of what the binary sent. Stops at what is no message.
std::vector<LspJson> messages_in(std::string_view bytes) {
  std::vector<LspJson> messages;
  constexpr std::string_view kHeader = "Content-Length: ";
  while (bytes.starts_with(kHeader)) {
    const std::size_t length = std::stoul(std::string(bytes.substr(kHeader.size(), 12)));
    const std::size_t begin = bytes.find("\r\n\r\n") + 4;
    messages.push_back(LspJson::parse(bytes.substr(begin, length)));
    bytes.remove_prefix(begin + length);
  }
  EXPECT_EQ(bytes, "");
  return messages;
}

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const auto& entry : std::filesystem::directory_iterator(kSessions)) {
    list.push_back(entry.path().stem());
  }
  std::sort(list.begin(), list.end());
  return list;
}

class LspSession : public CommandLine, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { enter("gorgo_lsp_" + GetParam()); }
};

TEST_P(LspSession, GoesAsRecorded) {
  const Session session = read_session(kSessions / (GetParam() + ".session"));
  ASSERT_FALSE(session.received.empty());
  write("sent", session.sent);
  const auto outcome = run("lsp < sent");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  const auto received = messages_in(outcome.out);
  for (std::size_t i = 0; i < std::min(received.size(), session.received.size()); ++i) {
    EXPECT_EQ(received[i], session.received[i]);
  }
  EXPECT_EQ(received.size(), session.received.size());
}

INSTANTIATE_TEST_SUITE_P(Recorded, LspSession, testing::ValuesIn(names()),
                         [](const auto& session) { return session.param; });

TEST_F(CommandLine, LspKnowsTheTypesOfCommonFiles) {
  write("types.tesla", "event B(x: int);");
  write("sent", framed(R"({"id":1,"method":"initialize","params":{}})") +
                    framed(R"({"method":"textDocument/didOpen","params":{"textDocument":)"
                           R"({"uri":"file:///a.tesla","text":"define A() from B(y = 1);"}}})"));
  const auto outcome = run("lsp types.tesla < sent");
  EXPECT_EQ(outcome.exit_code, 1) << "the editor left without a word";
  const auto received = messages_in(outcome.out);
  ASSERT_EQ(received.size(), 2u);
  EXPECT_NE(outcome.out.find("type `B` has no attribute `y`"), std::string::npos) << outcome.out;
}

TEST_F(CommandLine, LspRefusesMissingCommonFiles) {
  const auto outcome = run("lsp missing.tesla < /dev/null");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "gorgo: cannot read missing.tesla: No such file or directory\n");
}

TEST_F(CommandLine, LspEndsWhenItCannotFollow) {
  write("sent", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto outcome = run("lsp < sent");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("gorgo: a header field of a message has no colon"))
      << outcome.err;
}

}  // namespace
}  // namespace gorgo::tools

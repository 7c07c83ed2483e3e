#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "tools/lsp/document.hpp"
#include "tools/lsp/framing.hpp"
#include "tools/lsp/session.hpp"
#include "tools/lsp/workspace.hpp"

namespace gorgo::tools::lsp {
namespace {

/// What is cut from a stream that comes in pieces of `step` bytes; the error last.
std::vector<std::string> cut(std::string_view bytes, std::size_t step) {
  MessageCutter messages;
  std::vector<std::string> result;
  while (!bytes.empty()) {
    messages.feed(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
    while (true) {
      const auto next = messages.next();
      if (!next) {
        result.push_back("error: " + next.error().message);
        return result;
      }
      if (!*next) break;
      result.push_back(**next);
    }
  }
  return result;
}

TEST(LspFraming, CutsMessagesHoweverTheyCome) {
  const std::string bytes = framed("{}") + framed("") +
                            "content-type: x\r\nCONTENT-LENGTH:  3 \r\n\r\nabc" + framed("last");
  const std::vector<std::string> expected = {"{}", "", "abc", "last"};
  for (const std::size_t step : {1u, 2u, 7u, 1000u}) EXPECT_EQ(cut(bytes, step), expected);
}

TEST(LspFraming, RefusesWhatItCannotFollow) {
  const auto error = [](std::string_view bytes) {
    const auto result = cut(bytes, 5);
    return result.empty() ? "" : result.back();
  };
  EXPECT_EQ(error("no header\r\n\r\n"), "error: a header field of a message has no colon");
  EXPECT_EQ(error("\r\n\r\n"), "error: a message has no Content-Length");
  EXPECT_EQ(error("Type: x\r\n\r\n"), "error: a message has no Content-Length");
  for (const std::string length : {"", "-1", "x", "3x", "99999999999999999999", "67108865"}) {
    EXPECT_EQ(error("Content-Length: " + length + "\r\n\r\n"),
              "error: the Content-Length of a message is no number up to 64 MiB");
  }
  EXPECT_EQ(error(std::string(5000, 'x')), "error: the header of a message does not end");
  EXPECT_EQ(error("Content-Length: 5\r\n\r\nabc"), "") << "more may come";
}

TEST(LspDocument, CountsInUtf16) {
  const Document document("a\xC3\xA9\xF0\x9F\x94\xA5z\r\n\xFF\xE9x\n");
  EXPECT_EQ(document.position(0), (Position{0, 0}));
  EXPECT_EQ(document.position(1), (Position{0, 1}));
  EXPECT_EQ(document.position(3), (Position{0, 2}));
  EXPECT_EQ(document.position(7), (Position{0, 4})) << "two units beyond U+FFFF";
  EXPECT_EQ(document.position(12), (Position{1, 2})) << "what is no UTF-8 counts by bytes";
  for (const std::size_t offset : {0u, 1u, 3u, 7u, 8u, 10u, 11u, 12u, 13u, 14u}) {
    EXPECT_EQ(document.offset(document.position(offset)), offset);
  }
  EXPECT_EQ(document.offset(Position{0, 3}), 3u) << "inside a character";
  EXPECT_EQ(document.offset(Position{0, 99}), 8u) << "before the line end";
  EXPECT_EQ(document.offset(Position{99, 0}), document.text().size());
  EXPECT_EQ(document.range({.line = 1, .column = 8, .length = 1}).start, (Position{0, 4}));
}

TEST(LspDocument, PathsAndUris) {
  EXPECT_EQ(path_of("file:///tmp/a%20b%C3%A9.tesla"), "/tmp/a b\xC3\xA9.tesla");
  EXPECT_EQ(path_of("file://host/x"), "/x");
  EXPECT_EQ(path_of("untitled:Untitled-1"), "untitled:Untitled-1");
  EXPECT_EQ(path_of("file:///100%"), "/100%");
  EXPECT_EQ(path_of("file:///%zz"), "/%zz");
  EXPECT_EQ(uri_of("/tmp/x/../a b.tesla"), "file:///tmp/a%20b.tesla");
}

TEST(LspWorkspace, CommonFilesChangeWithTheEditor) {
  const auto path = std::filesystem::path(testing::TempDir()) / "lsp_common.tesla";
  std::ofstream(path) << "event B(x: int);";
  const std::string common = uri_of(path.string());
  Workspace workspace;
  ASSERT_TRUE(workspace.add_common({path.string()}));
  const auto failed = [&](const std::vector<const View*>& views, const std::string& uri) {
    for (const View* view : views) {
      if (view->uri == uri) return view->diagnostics.failed();
    }
    ADD_FAILURE() << uri << " was not checked";
    return true;
  };
  EXPECT_EQ(workspace.find(common), nullptr);
  EXPECT_FALSE(failed(workspace.set("file:///a", "define A() from B(x = 1);"), "file:///a"));
  EXPECT_TRUE(failed(workspace.set(common, "event B(y: int);"), "file:///a"));
  EXPECT_FALSE(failed(workspace.close(common), "file:///a")) << "as it is on disk";
  EXPECT_TRUE(workspace.close("file:///a").empty());
  EXPECT_EQ(workspace.find("file:///a"), nullptr);
  std::filesystem::remove(path);
}

/// Whatever an editor sends is answered or ignored; nothing that it asks about a text that is
/// being written, at any place, stops the server.
TEST(LspSession, StaysAliveAtEveryPlaceOfEveryBeginning) {
  const std::string text =
      "@engine(automaton) rule r: define A(x: int, s: string)\nfrom B(x = $x, n = "
      "\"\xF0\x9F\x94\xA5\")"
      " as T and 2-last C(v > $x // c\n) within 5 min from T\nand not D() between C and T "
      "and 1 < $m = Max(C(v = $x).v within 1 s from T)\nwhere x = $m + C.v * 2, s = 'a' consuming "
      "C;";
  Session session{Workspace()};
  session.handle(R"({"id":0,"method":"initialize"})");
  const auto ask = [&](const std::string& method, Json params) {
    params["textDocument"]["uri"] = "u";
    const Json message = {{"id", 1}, {"method", "textDocument/" + method}, {"params", params}};
    const auto answers = session.handle(message.dump());
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].find("\"code\":-326"), std::string::npos) << answers[0];
  };
  for (std::size_t end = 0; end <= text.size(); end += 3) {
    const Json open = {
        {"method", "textDocument/didOpen"},
        {"params", {{"textDocument", {{"uri", "u"}, {"text", text.substr(0, end)}}}}}};
    session.handle(open.dump(-1, ' ', false, Json::error_handler_t::replace));
    const View view{.uri = "u", .document = Document(text.substr(0, end))};
    const Position at = view.document.position(end);
    const Json position = {{"line", at.line}, {"character", at.character}};
    for (const std::string method : {"hover", "completion", "definition", "prepareRename"}) {
      ask(method, {{"position", position}});
    }
    ask("references", {{"position", position}, {"context", {{"includeDeclaration", true}}}});
    ask("formatting", Json::object());
    ask("documentSymbol", Json::object());
  }
}

TEST(LspSession, SurvivesDamagedMessages) {
  Session session{Workspace()};
  session.handle(R"({"id":0,"method":"initialize"})");
  const std::string good =
      R"({"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":)"
      R"({"uri":"u","text":"x"},"position":{"line":0,"character":0},"contentChanges":[{"text":"y"}]}})";
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int damage = 0; damage < 3; ++damage) {
      bad[random() % bad.size()] = static_cast<char>(random() % 256);
    }
    EXPECT_LE(session.handle(bad).size(), 1u);
  }
}

}  // namespace
}  // namespace gorgo::tools::lsp

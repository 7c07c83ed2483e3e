#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/commands.hpp"
#include "tools/lsp/framing.hpp"
#include "tools/lsp/session.hpp"
#include "tools/output.hpp"

namespace gorgo::tools {
namespace {

/// Handles the messages that are complete.
Result<void> handle_all(lsp::MessageCutter& messages, lsp::Session& session) {
  while (!session.ended()) {
    const auto content = messages.next();
    if (!content) return content.error();
    if (!*content) break;
    for (const auto& answer : session.handle(**content)) {
      const std::string bytes = lsp::framed(answer);
      std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    }
    if (auto written = flush_output(); !written) return written;
  }
  return {};
}

int serve_editor(const std::vector<std::string>& common) {
  lsp::Workspace workspace;
  if (const auto added = workspace.add_common(common); !added) return fail(added.error());
  lsp::Session session(std::move(workspace));
  lsp::MessageCutter messages;
  std::array<char, 1 << 16> bytes{};
  while (!session.ended()) {
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;  // the editor left without a word
    messages.feed({bytes.data(), static_cast<std::size_t>(count)});
    if (const auto handled = handle_all(messages, session); !handled) {
      return fail(handled.error());
    }
  }
  return session.ended_well() ? kSuccess : kFailure;
}

}  // namespace

void add_lsp(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("lsp", "Serve an editor over standard input and output (LSP 3.17)");
  const auto common = std::make_shared<std::vector<std::string>>();
  command->add_option(
      "FILE", *common,
      "Rule files that are deployed before those in the editor, whose types they use");
  command->callback([common, &exit_code] { exit_code = serve_editor(*common); });
}

}  // namespace gorgo::tools

#include "tools/terminal.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tools/color.hpp"

namespace gorgo::tools {
namespace {

volatile sig_atomic_t stop_requested = 0;

void note_stop(int) { stop_requested = 1; }

void write_out(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

bool Terminal::is_there() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && kind != nullptr && std::string(kind) != "dumb";
}

Terminal::Terminal() {
  struct sigaction action = {};
  action.sa_handler = note_stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  has_keys_ = tcgetattr(STDIN_FILENO, &before_) == 0;
  if (has_keys_) {
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
  }
  write_out("\033[?1049h\033[?25l");  // another screen, without a cursor
}

Terminal::~Terminal() {
  write_out("\033[?25h\033[?1049l");
  if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Terminal::Size Terminal::size() {
  winsize found = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) != 0 || found.ws_col == 0) return {};
  return {found.ws_col, found.ws_row};
}

void Terminal::show(const std::vector<std::string>& lines) {
  std::string text = "\033[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += "\r\n";
    text += i == 0 ? colored(Color::bold, lines[i], stdout) : lines[i];
    text += "\033[K";
  }
  write_out(text + "\033[J");
}

std::optional<char> Terminal::key(Duration timeout) {
  pollfd input{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0};
  const int ready = poll(&input, 1, static_cast<int>(timeout / 1'000'000));
  if (stop_requested != 0) return 'q';
  char key = 0;
  if (ready <= 0) return std::nullopt;
  if (read(STDIN_FILENO, &key, 1) == 1) return key;
  has_keys_ = false;
  return std::nullopt;
}

}  // namespace gorgo::tools

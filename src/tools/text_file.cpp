#include "tools/text_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

namespace gorgo::tools {

Result<std::string> read_text_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Error{"cannot read " + path + ": it is a folder", ""};
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.bad()) {
    return Error{"cannot read " + path + ": " + std::strerror(errno), ""};
  }
  // A string could make an Error as well: say which of the two it is.
  return {boost::system::in_place_value, std::move(text).str()};
}

Result<std::string> read_text(const std::string& path) {
  if (path != "-") return read_text_file(path);
  return {boost::system::in_place_value, std::istreambuf_iterator<char>(std::cin),
          std::istreambuf_iterator<char>()};
}

Result<void> write_text_file(const std::string& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return Error{"cannot write " + path + ": " + std::strerror(errno), ""};
  return {};
}

}  // namespace gorgo::tools

#include "server/alarm_file.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace gorgo::server {
namespace {

/// Makes a file name that is safe whatever the rule is called.
std::string file_name_of(std::string rule) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_';
  };
  std::ranges::replace_if(
      rule, [&](char c) { return !is_plain(static_cast<unsigned char>(c)); }, '_');
  return "engines-disagree-" + rule + ".test";
}

}  // namespace

Result<std::string> save_report(const EngineAlarm& alarm, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string path = std::filesystem::path(folder) / file_name_of(alarm.rule);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << alarm.report;
  file.close();
  if (file.fail()) return Error{"cannot write " + path + ": " + std::strerror(errno), ""};
  return {std::in_place, std::move(path)};
}

}  // namespace gorgo::server

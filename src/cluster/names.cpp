#include "cluster/names.hpp"

#include <algorithm>
#include <cstdio>

#include "cluster/partition_of.hpp"

namespace gorgo::cluster {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

std::string subject(std::string_view cluster, std::string_view way, std::string_view family,
                    std::string_view partition) {
  return "gorgo." + std::string(cluster) + "." + std::string(way) + "." + token(family) + "." +
         std::string(partition);
}

}  // namespace

Result<void> check_name(std::string_view name) {
  constexpr std::size_t kLongest = 32;
  if (!name.empty() && name.size() <= kLongest && std::ranges::all_of(name, is_plain)) return {};
  return Error{"'" + std::string(name) + "' is no name of a cluster or a node",
               "1 to 32 letters, digits, - and _"};
}

std::string token(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string token(text.substr(0, kLongest));
  for (char& c : token) c = is_plain(c) ? c : '_';
  if (token == text && !token.empty()) return token;
  char hash[10];
  std::snprintf(hash, sizeof hash, "_%08x", static_cast<unsigned>(fnv1a(text)));
  return token + hash;
}

std::string input_stream(std::string_view cluster, std::string_view family) {
  return "GORGO_" + std::string(cluster) + "_IN_" + token(family);
}

std::string input_subject(std::string_view cluster, std::string_view family,
                          std::uint32_t partition) {
  return subject(cluster, "in", family, std::to_string(partition));
}

std::string input_subjects(std::string_view cluster, std::string_view family) {
  return subject(cluster, "in", family, "*");
}

std::string output_stream(std::string_view cluster, std::string_view family,
                          std::uint32_t partition) {
  return "GORGO_" + std::string(cluster) + "_OUT_" + token(family) + "_" +
         std::to_string(partition);
}

std::string output_subject(std::string_view cluster, std::string_view family,
                           std::uint32_t partition) {
  return subject(cluster, "out", family, std::to_string(partition));
}

std::string plan_bucket(std::string_view cluster) {
  return "GORGO_" + std::string(cluster) + "_PLAN";
}

std::string lease_bucket(std::string_view cluster) {
  return "GORGO_" + std::string(cluster) + "_LEASES";
}

}  // namespace gorgo::cluster

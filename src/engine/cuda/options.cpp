#include "engine/cuda/options.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

namespace gorgo::engine {
namespace {

std::optional<std::uint64_t> number(std::string_view text, bool with_unit) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit.empty()) return value;
  const int shift = unit == "KiB" ? 10 : unit == "MiB" ? 20 : unit == "GiB" ? 30 : 0;
  if (!with_unit || shift == 0 || value >> (63 - shift) != 0) return std::nullopt;
  return value << shift;
}

bool set_compile(CudaOptions& options, std::string_view text) {
  using gpu::Compile;
  if (text != "background" && text != "at-once" && text != "never") return false;
  options.compile = text == "background" ? Compile::in_background
                    : text == "at-once"  ? Compile::at_once
                                         : Compile::never;
  return true;
}

bool set_negations(CudaOptions& options, std::string_view text) {
  if (text != "auto" && text != "inside" && text != "separate") return false;
  options.longest_inside = text == "auto"     ? CudaOptions().longest_inside
                           : text == "inside" ? std::numeric_limits<std::uint64_t>::max()
                                              : 0;
  return true;
}

bool set_uploads(CudaOptions& options, std::string_view text) {
  options.fused_uploads = text == "fused";
  return options.fused_uploads || text == "separate";
}

bool set_devices(CudaOptions& options, std::string_view text) {
  options.devices.clear();
  if (text == "all") return true;
  for (;;) {
    const std::size_t end = std::min(text.find('+'), text.size());
    const auto index = number(text.substr(0, end), false);
    if (!index || *index > 1000) return false;
    if (std::ranges::find(options.devices, *index) != options.devices.end()) return false;
    options.devices.push_back(static_cast<std::uint32_t>(*index));
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

bool set(CudaOptions& options, std::string_view key, std::string_view text) {
  if (key == "compile") return set_compile(options, text);
  if (key == "devices") return set_devices(options, text);
  if (key == "negations") return set_negations(options, text);
  if (key == "uploads") return set_uploads(options, text);
  const auto value = number(text, key == "memory");
  if (!value) return false;
  if (key == "memory") {
    options.memory = *value;
  } else if (key == "least_pairs") {
    options.least_pairs = *value;
  } else if (key == "least_terminators" && *value > 0) {
    options.least_terminators = *value;
  } else if (key == "page_events" && std::has_single_bit(*value) && *value <= 1u << 24) {
    options.page_events = static_cast<std::uint32_t>(*value);
  } else {
    return false;
  }
  return true;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit < 3 && bytes > 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + kUnits[unit];
}

std::string devices_text(const std::vector<std::uint32_t>& devices) {
  std::string text;
  for (const std::uint32_t device : devices) {
    text += (text.empty() ? "" : "+") + std::to_string(device);
  }
  return text.empty() ? "all" : text;
}

std::string compile_text(gpu::Compile compile) {
  if (compile == gpu::Compile::in_background) return "background";
  return compile == gpu::Compile::at_once ? "at-once" : "never";
}

std::string negations_text(std::uint64_t longest_inside) {
  if (longest_inside == 0) return "separate";
  return longest_inside == CudaOptions().longest_inside ? "auto" : "inside";
}

std::mutex set_mutex;
std::optional<CudaOptions> set_options;  // guarded by set_mutex

}  // namespace

Result<void> set_cuda_option(CudaOptions& options, std::string_view key, std::string_view text) {
  if (set(options, key, text)) return {};
  return Error{"'" + std::string(key) + "=" + std::string(text) + "' is no option of CUDA",
               "such as devices=0+1 (or all), memory=512MiB, page_events=8192 (a power of two), "
               "least_pairs=0, least_terminators=256, compile=never (or background, at-once), "
               "negations=auto (or inside, separate), "
               "uploads=fused (or separate)"};
}

std::string cuda_option_text(const CudaOptions& options, std::string_view key) {
  if (key == "compile") return compile_text(options.compile);
  if (key == "devices") return devices_text(options.devices);
  if (key == "negations") return negations_text(options.longest_inside);
  if (key == "uploads") return options.fused_uploads ? "fused" : "separate";
  if (key == "memory") return bytes_text(options.memory);
  if (key == "page_events") return std::to_string(options.page_events);
  if (key == "least_pairs") return std::to_string(options.least_pairs);
  return std::to_string(options.least_terminators);
}

Result<CudaOptions> parse_cuda_options(std::string_view text) {
  CudaOptions options;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view value = item.substr(std::min(item.size(), equals + 1));
    if (auto done = set_cuda_option(options, item.substr(0, equals), value); !done) {
      return done.error();
    }
    text.remove_prefix(std::min(text.size(), item.size() + 1));
  }
  return options;
}

Result<CudaOptions> cuda_options() {
  {
    const std::lock_guard lock(set_mutex);
    if (set_options) return *set_options;
  }
  const char* const text = std::getenv("GORGO_CUDA");
  return parse_cuda_options(text == nullptr ? "" : text);
}

void set_cuda_options(const CudaOptions& options) {
  const std::lock_guard lock(set_mutex);
  set_options = options;
}

}  // namespace gorgo::engine

#include "tools/print_json.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "codec/json_text.hpp"

namespace gorgo::tools {

void print_json(const nlohmann::ordered_json& json) {
  std::puts(codec::json_text(json, 2).c_str());
}

}  // namespace gorgo::tools

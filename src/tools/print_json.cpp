#include "tools/print_json.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace gorgo::tools {

void print_json(const nlohmann::ordered_json& json) {
  std::puts(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace gorgo::tools

#include "server/http/page_files.hpp"

// For programs that are built without the workbench.
namespace gorgo::server::http {

std::span<const PageFile> page_files() { return {}; }

}  // namespace gorgo::server::http

#pragma once

#include <span>
#include <string_view>

namespace gorgo::server::http {

/// A file of the workbench, which the build has put into the program. Lives as long as the program.
struct PageFile {
  std::string_view path;  ///< below the page's root: "index.html", "assets/main-1a2b3c.js"
  std::string_view content_type;
  std::string_view etag;    ///< in quotes; other contents have another one
  std::string_view plain;   ///< the file itself
  std::string_view gzip;    ///< the same, compressed
  std::string_view brotli;  ///< the same, compressed further
};

/// All files of the workbench; none where the program was built without it.
std::span<const PageFile> page_files();

}  // namespace gorgo::server::http

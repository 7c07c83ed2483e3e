#include "doors/file/file_sink.hpp"
#include "doors/file/file_source.hpp"
#include "doors/kind.hpp"

namespace gorgo::doors {
namespace {

Result<void> check_file(const Settings& settings) {
  if (settings.path.empty())
    return Error{"path: no file is named", "path = \"/var/log/app.ndjson\""};
  return check_from(settings);
}

}  // namespace

Kind file_kind() {
  return {.name = "file",
          .keys = {key("path", Way::both, &Settings::path), key("from", Way::in, &Settings::from)},
          .has_lines = true,
          .target = &Settings::path,
          .check = check_file,
          .make_source = [](const std::string&, const Settings& settings, const Types& types,
                            const Position& position) -> Result<std::unique_ptr<Source>> {
            return {std::in_place, std::make_unique<FileSource>(settings, types, position)};
          },
          .make_sink = [](const std::string&,
                          const Settings& settings) -> Result<std::unique_ptr<Sink>> {
            return {std::in_place, std::make_unique<FileSink>(settings)};
          }};
}

}  // namespace gorgo::doors

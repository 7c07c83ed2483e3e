#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "doors/door.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors {

/// Appends event lines to a file. What the file has already is not written again: its last line
/// has the id of the last event.
class FileSink : public Sink {
 public:
  /// What becomes of events that are not behind the last one of the file.
  enum class Repeated : std::uint8_t { left_out, written };

  explicit FileSink(const Settings& settings, Repeated repeated = Repeated::left_out)
      : path_(settings.path), repeated_(repeated) {}
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  Result<void> send(const Departing& events) override;
  void wake() override {}  // nothing waits for long

 private:
  const std::string path_;
  const Repeated repeated_;
  int file_ = -1;
  std::optional<Place> last_;  // that was written

  /// Opens the file that has the name now, which may be another than before.
  Result<void> open();
  /// Finds the last whole line, and cuts off what stands behind it.
  Result<void> find_end();
  Result<void> write(std::string_view text);
  Error failed(const std::string& what) const;
};

}  // namespace gorgo::doors

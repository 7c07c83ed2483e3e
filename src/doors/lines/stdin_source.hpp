#pragma once

#include <string>

#include "codec/lines.hpp"
#include "doors/door.hpp"
#include "doors/lines/line_reader.hpp"

namespace gorgo::doors {

/// The lines that come in a file descriptor, which nobody can read again: what was read and is not
/// durable when the server is killed is lost.
class StdinSource : public Source {
 public:
  StdinSource(const Settings& settings, const Types& types, int file);
  ~StdinSource() override;
  StdinSource(const StdinSource&) = delete;
  StdinSource& operator=(const StdinSource&) = delete;

  Result<Arrived> poll(std::chrono::milliseconds patience) override;
  void committed(const Position&) override {}
  void wake() override;
  std::string describe(const Position&) const override { return has_ended_ ? "its end" : ""; }

 private:
  static constexpr std::size_t kMostLine = std::size_t{16} << 20;  // bytes

  const int file_, wake_;
  LineReader reader_;
  codec::LineCutter lines_;
  bool has_ended_ = false;

  /// Whether bytes are there before `patience` is over or somebody calls `wake`.
  bool wait(std::chrono::milliseconds patience) const;
  Result<void> fill();
};

}  // namespace gorgo::doors

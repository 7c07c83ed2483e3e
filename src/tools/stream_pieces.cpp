#include "tools/stream_pieces.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

namespace gorgo::tools {
namespace {

using TakePiece = std::function<bool(StreamPiece)>;

/// Pieces on their way from the thread that reads to the thread that takes them.
class PieceQueue {
 public:
  /// Waits for room. False: nobody takes any more.
  bool push(StreamPiece piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || pieces_.size() < kMost; });
    if (closed_) return false;
    pieces_.push_back(std::move(piece));
    changed_.notify_all();
    return true;
  }
  /// Waits for a piece. Nothing: there will be none.
  std::optional<StreamPiece> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !pieces_.empty(); });
    if (pieces_.empty()) return std::nullopt;
    StreamPiece piece = std::move(pieces_.front());
    pieces_.pop_front();
    changed_.notify_all();
    return piece;
  }
  /// No piece comes behind those that wait.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  // Bounds the memory; so many even out that some pieces take longer than others.
  static constexpr std::size_t kMost = 8;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<StreamPiece> pieces_;
  bool closed_ = false;
};

/// Closes a queue at the end of a scope, so that whoever waits at its other end goes on.
class Closing {
 public:
  explicit Closing(PieceQueue& queue) : queue_(queue) {}
  ~Closing() { queue_.close(); }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

 private:
  PieceQueue& queue_;
};

Result<void> read_here(EventStream& stream, const TakePiece& take) {
  using Is = StreamPiece::Kind;
  return stream.read({
      .full = [&] { return take({.kind = Is::full, .events = stream.take(), .error = {}}); },
      .tick =
          [&](Timestamp timestamp) {
            return take({.kind = Is::tick,
                         .events = stream.take(),
                         .timestamp = timestamp,
                         .line = stream.line(),
                         .error = {}});
          },
      .bad_line =
          [&](const Error& error) {
            return take({.kind = Is::bad_line, .events = stream.take(), .error = error});
          },
      .pause = [&] { return take({.kind = Is::pause, .events = stream.take(), .error = {}}); },
  });
}

Result<void> read_ahead(EventStream& stream, const TakePiece& take) {
  PieceQueue queue;
  auto reading = std::async(std::launch::async, [&] {
    const Closing closing(queue);
    return read_here(stream, [&](StreamPiece piece) { return queue.push(std::move(piece)); });
  });
  {
    const Closing closing(queue);
    auto piece = queue.pop();
    while (piece && take(*std::move(piece))) piece = queue.pop();
  }
  return reading.get();
}

}  // namespace

// Who waits for input that may never come cannot be told to stop. A file never keeps anybody
// waiting.
Result<void> read_pieces(EventStream& stream, const TakePiece& take) {
  return stream.has_end() ? read_ahead(stream, take) : read_here(stream, take);
}

}  // namespace gorgo::tools

#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "server/http/problem.hpp"

/// What is made of the body of a request while it arrives. Nothing takes effect before it is
/// complete. Every body belongs to one thread.
namespace gorgo::server::http {

class Body {
 public:
  virtual ~Body() = default;
  /// Takes the next bytes. A problem is final.
  virtual Checked put(std::string_view bytes) = 0;
  /// Call behind the last byte.
  virtual Checked finish() = 0;
  /// Bytes of memory that it holds.
  virtual std::size_t memory() const = 0;
  /// Bytes that were taken, inflated.
  virtual std::size_t taken() const = 0;
};

/// Keeps the text as it is.
class TextBody : public Body {
 public:
  explicit TextBody(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  Checked put(std::string_view bytes) override;
  Checked finish() override { return {}; }
  std::size_t memory() const override { return text_.capacity(); }
  std::size_t taken() const override { return text_.size(); }
  const std::string& text() const { return text_; }
  /// The value that the text is. An error: it is none, or a member of an object stands twice.
  Result<nlohmann::ordered_json> json() const;

 private:
  const std::size_t max_bytes_;
  std::string text_;
};

/// Inflates gzip on the way to another body, and never to more than `max_bytes`: what is behind
/// them is not inflated.
class GzipBody : public Body {
 public:
  /// `inner` must outlive it.
  GzipBody(Body& inner, std::size_t max_bytes);
  ~GzipBody() override;

  Checked put(std::string_view bytes) override;
  Checked finish() override;
  std::size_t memory() const override;
  std::size_t taken() const override { return inflated_; }

 private:
  struct Stream;
  Body& inner_;
  const std::size_t max_bytes_;
  std::size_t inflated_ = 0;
  std::unique_ptr<Stream> stream_;

  Checked inflate_some();
};

/// The problem of a body that is larger than it may be.
Problem body_too_large(std::size_t max_bytes);

}  // namespace gorgo::server::http

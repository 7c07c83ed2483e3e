#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "protocol/framing.hpp"
#include "server/http/body.hpp"
#include "server/http/message.hpp"
#include "server/options.hpp"

namespace gorgo::server::http {

/// A frame from the engine.
class Reply {
 public:
  explicit Reply(protocol::Bytes frame) : frame_(std::move(frame)) {}
  const wire::Message& message() const {
    return *flatbuffers::GetSizePrefixedRoot<wire::Message>(frame_.data());
  }
  template <class Body>
  const Body* as() const {
    const bool is = message().body_type() == wire::BodyTraits<Body>::enum_value;
    return is ? static_cast<const Body*>(message().body()) : nullptr;
  }

 private:
  protocol::Bytes frame_;
};

/// What asks the engine on behalf of a request. Belongs to the I/O thread.
class Engine {
 public:
  virtual ~Engine() = default;

  /// The number that the next frame to `ask` must carry.
  virtual std::uint64_t next_id() = 0;
  /// Nothing: the request was not carried out, because the server stops; or nobody is there any
  /// more who could be answered.
  virtual boost::asio::awaitable<std::optional<Reply>> ask(protocol::Bytes frame) = 0;

  template <class Body>
  boost::asio::awaitable<std::optional<Reply>> ask(const Body& body) {
    return ask(protocol::encode(next_id(), body));
  }
};

/// A request whose body is complete.
struct Call {
  const Head& head;
  const Target& target;
  std::vector<std::string> parameters;  ///< that the path names: the NAME of /v1/rules/NAME
  const std::unique_ptr<Body>& body;    ///< null where the route has none
};

}  // namespace gorgo::server::http

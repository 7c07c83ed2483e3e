#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actions/settings.hpp"
#include "actions/signature.hpp"
#include "actions/target.hpp"

namespace gorgo::actions {

/// Posts each order to a web server, as Standard Webhooks says: the body is JSON, and headers have
/// the order's key, the time and a signature. An answer of 2xx is an acknowledgement. Connections
/// are kept, and as many posts are on their way at once as the settings allow.
class Webhook : public Target {
 public:
  /// Without a signer nothing is signed.
  Webhook(const Settings& settings, std::optional<Signer> signer);
  ~Webhook() override;

  std::vector<Outcome> attempt(std::span<const Order* const> orders) override;
  void wake() override;

 private:
  class Post;
  struct Pool;

  const Settings settings_;
  const std::optional<Signer> signer_;
  const std::unique_ptr<Pool> pool_;
};

/// What is posted: `{"type":"Fire","timestamp":"2024-05-01T10:00:01Z","data":{...}}`, where the
/// data is the event line with its id. Type and time are those of the first event; of several, the
/// data is a list.
std::string body_of(const Order& order);

}  // namespace gorgo::actions

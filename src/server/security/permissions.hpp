#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "protocol/gorgo_generated.h"
#include "server/security/user.hpp"

// What a user may do, for all dialects. What a request says itself is checked before it is queued
// (`check_request`, `may_publish_all`). Which types a text is about shows only when it is parsed,
// and whose a rule is only the engine thread knows: it asks the other functions.
namespace gorgo::server {

/// An error where the user lacks the permission for a request of this kind, which it names. For
/// publications see `may_publish_all`.
Result<void> check_request(const User& user, const wire::Message& message);

/// Whether the user may be told of a type: what it has, and how many events came.
bool may_see_type(const User& user, std::string_view type);

/// Whether the user may have publishers wait for a subscription. While they do, nothing is
/// evaluated for anybody.
Result<void> check_blocking(const User& user);

/// Whether the user may publish events of every type in the batch.
bool may_publish_all(const User& user, const wire::Batch& batch);
Result<void> check_publish(const User& user, std::string_view type);
/// `type`: "*" stands for all types. A user who may not subscribe to all of them is refused rather
/// than given some, lest a client takes a part for the whole.
Result<void> check_subscribe(const User& user, std::string_view type);
/// Whether the rules of a deployment are the user's.
Result<void> check_deployment(const User& user, std::string_view deployment);

/// What patterns compare of the name of a deployment: without folders and the ending of a file.
std::string_view stem_of(std::string_view deployment);

}  // namespace gorgo::server

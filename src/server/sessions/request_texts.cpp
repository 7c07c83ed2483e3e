#include "server/sessions/request_texts.hpp"

#include <algorithm>

#include "codec/text.hpp"

namespace gorgo::server {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

/// Texts of one request, each of which may be absent.
class Check {
 public:
  Check& name(const flatbuffers::String* name) {
    text(name);
    if (name != nullptr && std::ranges::any_of(name->string_view(), is_control)) {
      note("a name has a control character");
    }
    return *this;
  }
  Check& text(const flatbuffers::String* text) {
    if (text != nullptr && !codec::is_valid_utf8(text->string_view())) note("a text is not UTF-8");
    return *this;
  }
  Result<void> done() const {
    if (problem_ == nullptr) return {};
    return Error{problem_,
                 "send names and texts as UTF-8, and names without line ends and the like"};
  }

 private:
  const char* problem_ = nullptr;

  void note(const char* problem) {
    if (problem_ == nullptr) problem_ = problem;
  }
};

Result<void> check_silence(const wire::OrderAction& order) {
  Check check;
  check.name(order.name());
  const wire::Silence* const silence = order.silence();
  if (silence == nullptr) return check.done();
  check.text(silence->comment());
  if (silence->matchers() != nullptr) {
    for (const auto* matcher : *silence->matchers()) check.text(matcher);
  }
  return check.done();
}

Result<void> check_subscription(const wire::Subscribe& subscribe, const Limits& limits) {
  const std::size_t bytes = subscribe.text()->size();
  if (bytes <= limits.subscription_bytes) {
    return Check().name(subscribe.durable()).text(subscribe.text()).done();
  }
  return Error{"the text of the subscription has " + std::to_string(bytes) +
                   " bytes, the limit is " + std::to_string(limits.subscription_bytes),
               "write a shorter one, or raise limits.subscription_bytes"};
}

}  // namespace

Result<void> check_texts(const wire::Message& message, const Limits& limits) {
  switch (message.body_type()) {
    case wire::Body::Deploy: {
      const auto& deploy = *message.body_as_Deploy();
      return Check().name(deploy.name()).text(deploy.text()).done();
    }
    case wire::Body::Subscribe:
      return check_subscription(*message.body_as_Subscribe(), limits);
    case wire::Body::DeclareDoor: {
      const auto& declare = *message.body_as_DeclareDoor();
      return Check().name(declare.name()).text(declare.text()).done();
    }
    case wire::Body::Pin: {
      const auto& pin = *message.body_as_Pin();
      return Check().name(pin.rule()).name(pin.engine()).done();
    }
    case wire::Body::Declare:
      return Check().name(message.body_as_Declare()->name()).done();
    case wire::Body::Remove:
      return Check().name(message.body_as_Remove()->rule()).done();
    case wire::Body::ListRules:
      return Check().name(message.body_as_ListRules()->name()).done();
    case wire::Body::AskWhy:
      return Check().name(message.body_as_AskWhy()->rule()).done();
    case wire::Body::Acknowledge:
      return Check().name(message.body_as_Acknowledge()->durable()).done();
    case wire::Body::EndDurable:
      return Check().name(message.body_as_EndDurable()->durable()).done();
    case wire::Body::AskHistory:
      return Check().name(message.body_as_AskHistory()->name()).done();
    case wire::Body::PromoteShadow:
      return Check().name(message.body_as_PromoteShadow()->name()).done();
    case wire::Body::DropShadow:
      return Check().name(message.body_as_DropShadow()->name()).done();
    case wire::Body::RemoveDoor:
      return Check().name(message.body_as_RemoveDoor()->name()).done();
    case wire::Body::OrderAction:
      return check_silence(*message.body_as_OrderAction());
    default:
      return {};  // events are checked by `check_batch`, and the others have no text
  }
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kMost = 256;  // bytes; it is kept with the connection, and behind its end
  // No character is cut in two.
  if (name.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (name[end] & 0xC0) == 0x80) --end;
    name = name.substr(0, end);
  }
  std::string shown(name);
  const bool is_text = codec::is_valid_utf8(name);
  std::ranges::replace_if(
      shown, [&](char c) { return is_control(c) || (!is_text && (c & 0x80) != 0); }, '?');
  return shown;
}

}  // namespace gorgo::server

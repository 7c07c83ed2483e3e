#include "server/rules/why_answers.hpp"

#include <algorithm>
#include <utility>

#include "server/replies.hpp"

namespace gorgo::server {
namespace {

/// One request may ask about so many terminators at most, because changes of rules wait for the
/// answer.
constexpr std::uint32_t kMostTerminators = 100;

}  // namespace

bool WhyAnswers::begin(Outbox& client, std::uint64_t id, const wire::AskWhy& request) {
  WhyOptions options{.last = std::min(request.last(), kMostTerminators), .at = {}};
  if (request.at()) options.at = *request.at();
  options.max_time = std::chrono::nanoseconds(limits_.why).count();
  options.max_bytes = limits_.memory_bytes;
  const auto inquiry = processor_.inquire(request.rule()->str(), options);
  if (inquiry) {
    inquiry_ = *inquiry;
  } else {
    client.reply(error_reply(id, wire::ErrorCode::NotFound, inquiry.error()));
  }
  return inquiry_ != nullptr;
}

void WhyAnswers::find() {
  checker_.begin([this, inquiry = std::exchange(inquiry_, nullptr)]() mutable {
    why_ = answer(inquiry, is_stopped_);
    inquiry = nullptr;  // its copies of events
  });
}

void WhyAnswers::tell(Outbox& client, std::uint64_t id) {
  checker_.finish();
  const auto why = std::exchange(why_, std::nullopt);
  client.reply(*why ? why_reply(id, **why, limits_.max_frame)
                    : error_reply(id, wire::ErrorCode::Overloaded, why->error()));
}

void WhyAnswers::forget() {
  inquiry_ = nullptr;
  why_.reset();
}

}  // namespace gorgo::server

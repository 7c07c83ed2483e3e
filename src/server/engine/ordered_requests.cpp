#include "server/engine/ordered_requests.hpp"

#include <exception>
#include <new>
#include <utility>

#include "server/replies.hpp"

namespace gorgo::server {

void OrderedRequests::add(Command command) {
  requests_.push_back(std::move(command));
  if (const auto& client = requests_.back().client) client->owe();
  work_off();
}

void OrderedRequests::work_off() {
  while (!requests_.empty()) {
    Command& first = requests_.front();
    bool over = true;
    parts_.attempt(first, [&] { over = go_on(first); });
    if (!over) return;
    forget_first();
    // Before its client may ask for more, which a reload may have changed.
    first.reload = nullptr;
    if (first.done) first.done();
    if (first.client != nullptr) first.client->paid();
    requests_.pop_front();
  }
}

/// A request that has failed in the middle leaves what belongs to it, which the next one must not
/// take for its own.
void OrderedRequests::forget_first() {
  if (parts_.checker.is_busy()) {
    try {
      parts_.checker.finish();
    } catch (const std::exception&) {
      // Whoever asked for it has been told of the failure that came first.
    }
  }
  parts_.book.processor().give_up();
  parts_.rules.forget();
  parts_.reload.forget();
  parts_.why.forget();
}

void OrderedRequests::finish() {
  while (!requests_.empty()) {
    if (parts_.checker.is_busy()) parts_.checker.wait();
    work_off();
  }
}

bool OrderedRequests::go_on(Command& command) {
  const bool begun =
      parts_.checker.is_busy() || parts_.why.is_gathering() || parts_.rules.is_removing();
  if (!begun && parts_.queue.is_closed()) {
    refuse(command);
    return true;
  }
  if (command.reload != nullptr) return reload(command);
  if (command.message().body_type() == wire::Body::AskWhy) return explain(command);
  return change(command);
}

bool OrderedRequests::change(Command& command) {
  if (parts_.rules.is_removing()) return remove_some(command);
  const bool gone = command.client->closed();
  if (!parts_.checker.is_busy() && !gone) parts_.rules.check(command.message());
  if (parts_.checker.is_busy() && !parts_.checker.is_done()) return false;
  if (gone) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  if (parts_.checker.is_busy() && !get_ready(parts_.rules.coming(command))) return false;
  parts_.carry_out(command);
  return !parts_.rules.is_removing() || remove_some(command);
}

bool OrderedRequests::remove_some(const Command& command) {
  parts_.process();
  if (parts_.rules.remove_some(command, end_of_piece())) return true;
  parts_.queue.push_control({Command::Kind::checked});
  return false;
}

bool OrderedRequests::reload(const Command& command) {
  if (!parts_.checker.is_busy()) {
    parts_.reload.begin(*command.reload);
  } else {
    if (!parts_.checker.is_done() || !get_ready(parts_.reload.coming())) return false;
    parts_.process();
    if (!parts_.reload.put_in_force() || parts_.queue.is_closed()) {
      parts_.reload.end(command);
      return true;
    }
  }
  parts_.reload.check_next();
  return false;
}

bool OrderedRequests::explain(const Command& command) {
  const wire::Message& message = command.message();
  Outbox& client = *command.client;
  if (parts_.checker.is_busy()) {
    if (!parts_.checker.is_done()) return false;
    parts_.why.tell(client, message.id());
    return true;
  }
  if (client.closed()) return true;
  parts_.process();
  WhyAnswers& why = parts_.why;
  if (!why.is_gathering() && !why.begin(client, message.id(), *message.body_as_AskWhy())) {
    return true;
  }
  if (!why.gather(end_of_piece())) {
    parts_.queue.push_control({Command::Kind::checked});
    return false;
  }
  why.find();
  return false;
}

bool OrderedRequests::get_ready(const PreparedRules& rules) {
  if (rules == nullptr) return true;
  parts_.process();
  try {
    if (parts_.book.get_ready(rules, end_of_piece())) return true;
  } catch (const std::bad_alloc&) {
    parts_.book.processor().give_up();
    return true;  // putting them in force says so
  }
  parts_.queue.push_control({Command::Kind::checked});
  return false;
}

std::chrono::steady_clock::time_point OrderedRequests::end_of_piece() const {
  if (parts_.queue.is_closed()) return std::chrono::steady_clock::time_point::max();
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(kPieceCost);
}

void OrderedRequests::refuse(const Command& command) {
  if (command.client == nullptr) return;
  command.client->reply(error_reply(command.message().id(), wire::ErrorCode::Stopping,
                                    {"the server is stopping, so this was not carried out",
                                     "connect again later and send it again"}));
}

}  // namespace gorgo::server

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/connection.hpp"
#include "client/replies.hpp"

/// Questions to the server that have one good kind of answer.
namespace gorgo::client {

/// The message in a reply, which was verified when it came.
inline const wire::Message& message_in(const protocol::Bytes& frame) {
  return **protocol::open_frame(frame);
}

/// What `read` makes of the answer; any other answer is an error.
template <class Answer, class Read>
auto read_as(const Result<protocol::Bytes>& reply, Read read)
    -> Result<std::invoke_result_t<Read, const Answer&>> {
  if (!reply) return reply.error();
  const wire::Message& message = message_in(*reply);
  const auto* answer = message.body_as<Answer>();
  if (answer == nullptr) return unexpected(message);
  return {std::in_place, read(*answer)};
}

template <class Answer, class Question, class Read>
auto ask(Connection& connection, const Question& question, Read read) {
  return read_as<Answer>(connection.request(question), std::move(read));
}

/// Asks something whose answer only says that it is done.
template <class Question>
Result<void> request(Connection& connection, const Question& question) {
  const auto reply = connection.request(question);
  if (!reply) return reply.error();
  const wire::Message& message = message_in(*reply);
  if (message.body_type() == wire::Body::Ack) return {};
  return unexpected(message);
}

/// What `convert` makes of the entries of a list, which may be absent.
template <class Entries, class Convert>
auto converted(const Entries* entries, Convert convert) {
  std::vector<std::decay_t<decltype(convert(**entries->begin()))>> list;
  if (entries == nullptr) return list;
  list.reserve(entries->size());
  for (const auto* entry : *entries) list.push_back(convert(*entry));
  return list;
}

/// Asks for a list page by page until it is whole. `entries` finds those of a page, and `convert`
/// makes of each what the list has.
template <class Page, class Question, class Entries, class Convert>
auto ask_pages(Connection& connection, Question question, Entries entries, Convert convert) {
  const auto read = [&](const Page& page) {
    return std::pair(converted(entries(page), convert), page.total());
  };
  using List = decltype(read(std::declval<const Page&>()).first);
  List list;
  while (true) {
    question.first = static_cast<std::uint32_t>(list.size());
    auto page = ask<Page>(connection, question, read);
    if (!page) return Result<List>(page.error());
    list.insert(list.end(), std::make_move_iterator(page->first.begin()),
                std::make_move_iterator(page->first.end()));
    if (list.size() >= page->second || page->first.empty()) return Result<List>(std::move(list));
  }
}

}  // namespace gorgo::client

#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "server/command_queue.hpp"
#include "server/security/accounts.hpp"
#include "server/security/user.hpp"
#include "server/sessions/recent_rate.hpp"

namespace gorgo::server {

class Session;
struct SessionHub;

/// The way of one client's requests to the engine: whether its user may send them, how fast, and
/// that each waits for room in the queue and for the change of rules before it. Part of a session;
/// belongs to the I/O thread.
class RequestGate {
 public:
  explicit RequestGate(Session& session);

  /// Who the client is, as the doorkeeper has found out; null: nobody, yet.
  const UserPtr& user() const { return user_; }
  void set_user(UserPtr user);
  /// Has requests be those of another user, whom no file names; null: of `user()` again.
  void act_as(UserPtr user) { acting_ = std::move(user); }
  /// Does the same for a user who has come in, and counts the connection among those of the user.
  /// An error: the user has too many; nothing has changed.
  Result<void> let_in(const UserPtr& user);
  /// The connection is over, so it counts among those of its user no longer.
  void leave() { account_.leave(); }

  /// Waits until the rates of the user allow a request whose body comes beside frames. The request
  /// that is submitted next has waited thereby. False: the session has stopped reading.
  boost::asio::awaitable<bool> admit_body();
  /// Counts so many bytes of that body against the rates; the frame of the request counts only for
  /// what it has more.
  void pay(std::size_t bytes);
  /// The body has become a request, or none.
  void body_over() { admitted_ = false; }

  /// Hands a request to the engine, waits for room first, and waits until it was carried out where
  /// the next request must wait for that. False: nobody takes requests any more.
  boost::asio::awaitable<bool> submit(protocol::Bytes frame, const wire::Message& message);
  /// The queue may have room, or a change may be carried out.
  void woken();

  /// Bytes of the request that waits for room or for its turn.
  std::size_t bytes() const { return in_hand_.bytes(); }
  /// Whether a request waits for that, or its body does.
  bool is_waiting() const { return waiting_; }
  /// Whether a change of rules is on its way.
  bool awaits_change() const { return changing_ != nullptr && *changing_; }
  /// Events that the client has published.
  const RecentRate& published() const { return published_; }
  /// To be called now and then.
  void look(RecentRate::Time now) { published_.look(now); }

 private:
  Session& session_;
  SessionHub& hub_;
  boost::asio::steady_timer room_;     // cancelled when the queue may have room
  boost::asio::steady_timer changed_;  // cancelled when a change of rules may be carried out
  boost::asio::steady_timer rate_;     // until the user may ask for more
  MemoryShare in_hand_;
  UserPtr user_, acting_;
  AccountShare account_;
  RecentRate published_;
  bool waiting_ = false;
  bool admitted_ = false;  // a body was let pass that has become no request yet
  std::size_t paid_ = 0;   // bytes of that body
  // A change of rules is on its way. Null: none was, yet.
  std::shared_ptr<std::atomic<bool>> changing_;

  /// Whether the user may ask that; replies when not. Notes in the command what the engine thread
  /// has to check.
  bool permit(const wire::Message& message, Command& request);
  /// Has the producer of a publication be one of the user's. False: it was answered already.
  bool own_producer(protocol::Bytes& frame);
  /// What a request needs beside its frame. False: it was answered already.
  bool prepare(Command& request, const wire::Message& message);
  /// Whether rates of the user hold for what comes.
  bool has_rates() const { return user_ != nullptr && acting_ == nullptr; }
  /// Waits until the rates of the user allow the request, and counts it. False: the session has
  /// stopped reading meanwhile.
  boost::asio::awaitable<bool> take_turn(const Command& request);
  /// Waits until the rates allow something, with so many bytes in hand. False: as above.
  boost::asio::awaitable<bool> await_rate(std::size_t in_hand);
  boost::asio::awaitable<CommandQueue::Push> push(Command& request);
  /// For a command: tells the session that it was carried out.
  std::function<void()> when_changed();
  /// The session holds the request for now, and notices when the connection breaks.
  void begin_wait(std::size_t in_hand);
  void end_wait();
};

}  // namespace gorgo::server

#include "server/http/http_dialect.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/beast/core/string.hpp>
#include <utility>

#include "protocol/info.hpp"
#include "server/http/authorization.hpp"
#include "server/http/delivery_text.hpp"
#include "server/http/reply_json.hpp"
#include "server/sessions/awaiting.hpp"
#include "server/sessions/request_texts.hpp"

namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Field = beast::http::field;
using Step = RequestReader::Step;

// So many bytes of a body are taken before other sessions have their turn.
constexpr std::size_t kSlice = std::size_t{32} << 10;
// So many bytes of gzip are inflated at once, which may stand for a thousand times as many.
constexpr std::size_t kGzipSlice = 512;

// So much that is composed is written before more is.
constexpr std::size_t kMuch = std::size_t{256} << 10;

}  // namespace

HttpDialect::HttpDialect(Session& session, std::shared_ptr<Texts> texts)
    : session_(session),
      texts_(std::move(texts)),
      options_(session.hub().options),
      reader_(options_.http),
      head_check_(session, reader_),
      api_(*this, session.hub(), *texts_),
      out_memory_(session.hub().totals.memory),
      answered_(session.hub().io),
      composed_(session.hub().io),
      flushed_(session.hub().io),
      tick_(session.hub().io) {
  for (auto* timer : {&answered_, &composed_, &flushed_}) {
    timer->expires_at(asio::steady_timer::time_point::max());
  }
}

/// However the reader leaves, nobody makes use of a reply from then on, and the writer must not
/// wait for that.
struct HttpDialect::Leave {
  HttpDialect& dialect;

  ~Leave() {
    dialect.asked_ = 0;
    dialect.used_reply();
  }
};

asio::awaitable<void> HttpDialect::read() {
  const Leave leave{*this};
  bool goes_on = true;
  while (goes_on && !session_.stopping()) goes_on = co_await serve_one();
  reader_.clear();
}

asio::awaitable<bool> HttpDialect::serve_one() {
  in_request_ = false;
  reader_.next_request();
  if (!co_await read_head()) co_return false;
  const Head& head = reader_.head();
  const auto target = parse_target({head.target().data(), head.target().size()});
  if (!target) {
    const Problem problem{400, target.error()};
    co_await refuse(problem);
    co_return false;
  }
  auto routed = find_route(head.method(), *target);
  // A client that connects anew while the server is about to stop finds another one.
  bool goes_on = reader_.keep_alive() && !session_.hub().stops_at && !outstays();
  if (routed.route != nullptr) routed.otherwise = api_.refusal_of(*routed.route);
  if (routed.otherwise) {
    // Nobody takes the body in.
    goes_on = goes_on && !reader_.has_body();
    co_await respond(*routed.otherwise, goes_on);
    co_return goes_on;
  }
  const auto response =
      co_await handle(*target, *routed.route, std::move(routed.parameters), goes_on);
  if (broken_ || session_.aborted()) co_return false;
  if (response.then != Then::next_request) {
    co_await stream(response);
    co_return false;
  }
  co_await respond(response, goes_on);
  co_return goes_on;
}

/// Whether the client has not said who it is for so long that its place should be another's. It is
/// told before its connection is closed.
bool HttpDialect::outstays() const {
  const auto since = std::chrono::steady_clock::now() - began_;
  return session_.is_newcomer() && since > options_.greeting_timeout / 2;
}

asio::awaitable<bool> HttpDialect::read_head() {
  while (true) {
    const Step step = reader_.parse_head();
    if (step == Step::failed) {
      co_await refuse(reader_.problem());
      co_return false;
    }
    if (step == Step::done) break;
    in_request_ = reader_.has_bytes();
    if (session_.is_greeted()) await_head();
    if (!co_await read_more()) co_return false;
    if (session_.is_greeted() && !session_.is_newcomer()) session_.greeted();
  }
  session_.greeted();
  const auto agent = reader_.head()[Field::user_agent];
  session_.set_name(shown_name({agent.data(), agent.size()}));
  session_.message_begun();
  in_request_ = true;
  co_return true;
}

/// Sets the time-out for the next head, or for the rest of one. A client that has not said who it
/// is has no more time for all of its heads than for the first.
void HttpDialect::await_head() {
  const bool has_begun = reader_.has_bytes();
  if (has_begun) session_.message_begun();
  if (!has_begun) session_.message_over();
  if (session_.is_newcomer()) {
    const auto since = std::chrono::steady_clock::now() - began_;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(options_.greeting_timeout - since);
    session_.await_greeting(std::max(left, left.zero()));
  } else if (!has_begun) {
    session_.await_greeting(options_.http.keep_alive);
  }
}

asio::awaitable<bool> HttpDialect::read_more() {
  asio::mutable_buffer space;
  while (!session_.if_memory([&] { space = reader_.space(); })) {
    co_await session_.await_memory();
    if (session_.stopping()) co_return false;
  }
  const std::size_t size = co_await session_.read_some(space);
  reader_.fill(size);
  co_return size > 0;
}

asio::awaitable<bool> HttpDialect::await_turn() {
  if (!reader_.has_body()) co_return true;
  session_.message_over();  // it is the server that lets time pass
  const bool goes_on = co_await session_.gate().admit_body();
  session_.message_begun();
  co_return goes_on;
}

asio::awaitable<bool> HttpDialect::read_body(Body* body) {
  const std::size_t slice = is_gzip(reader_.head()) ? kGzipSlice : kSlice;
  std::size_t paid = 0, turn_began = 0;
  while (true) {
    const Step step = reader_.parse_body(body, slice);
    const std::size_t taken = body == nullptr ? 0 : body->taken();
    session_.gate().pay(taken - std::exchange(paid, taken));
    session_.hold(reader_.memory() + (body == nullptr ? 0 : body->memory()));
    if (step == Step::done) break;
    if (step == Step::failed) {
      co_await refuse(reader_.problem());
      co_return false;
    }
    if (session_.stopping()) co_return false;
    if (step == Step::again) {
      if (taken - turn_began < kSlice) continue;
      turn_began = taken;
      co_await asio::post(session_.hub().io, asio::use_awaitable);
    } else if (!co_await read_more()) {
      co_return false;
    }
  }
  session_.message_over();
  co_return true;
}

asio::awaitable<Response> HttpDialect::handle(const Target& target, const Route& route,
                                              std::vector<std::string> parameters, bool& goes_on) {
  const Head& head = reader_.head();
  if (auto refusal = co_await head_check_.refusal_of(route, target)) {
    goes_on = goes_on && !reader_.has_body();  // nobody takes it in
    co_return *std::move(refusal);
  }
  const std::unique_ptr<Body> body = api_.body_of(route);
  std::unique_ptr<GzipBody> gzip;
  if (body != nullptr && is_gzip(head)) {
    gzip = std::make_unique<GzipBody>(*body, options_.http.max_body_bytes);
  }
  if (!co_await await_turn()) {
    broken_ = true;
    co_return Response();
  }
  if (beast::iequals(head[Field::expect], "100-continue") && reader_.has_body()) {
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    session_.wake_writer();
  }
  if (!co_await read_body(gzip != nullptr ? gzip.get() : body.get())) {
    broken_ = true;
    co_return Response();
  }
  gzip.reset();
  body_ = body.get();
  const Call call{head, target, std::move(parameters), body};
  Response response = co_await (api_.*route.handle)(call);
  body_ = nullptr;
  session_.gate().body_over();
  session_.gate().act_as(nullptr);
  co_return response;
}

asio::awaitable<void> HttpDialect::stream(const Response& response) {
  if (response.then == Then::web_socket) {
    co_await upgrade(response.most_per_second);
    co_return;
  }
  if (response.then == Then::editor) {
    co_await serve_editor();
    co_return;
  }
  if (response.most_per_second) sample_.emplace(*response.most_per_second);
  streaming_ = true;
  session_.tell_of_stop();
  co_await respond(response, false);
  if (response.then == Then::workbench) {
    co_await show_workbench();
    co_return;
  }
  std::array<char, 256> unread;
  std::size_t size = 1;
  while (size > 0 && !session_.stopping()) {
    size = co_await session_.read_some(asio::buffer(unread));
  }
}

asio::awaitable<void> HttpDialect::show_workbench() {
  WorkbenchView view(texts_->workbench);
  while (!session_.stopping() && !broken_) {
    const auto began = std::chrono::steady_clock::now();
    if (view.workbench().is_due(began)) co_await gather(view.workbench());
    append_data(out_, view.next(std::chrono::system_clock::now()));
    co_await written();
    if (session_.stopping() || broken_) break;
    session_.watch();
    tick_.expires_at(began + Workbench::kTick);
    co_await tick_.async_wait(kTuple);
    session_.unwatch();
  }
}

asio::awaitable<void> HttpDialect::gather(Workbench& workbench) {
  // Like a scrape, this asks for more than the administrator may ask for by himself.
  if (session_.gate().user() != nullptr) session_.gate().act_as(scraper());
  co_await api_.gather(workbench);
  session_.gate().act_as(nullptr);
}

asio::awaitable<void> HttpDialect::upgrade(std::optional<std::uint32_t> most) {
  in_request_ = false;
  auto socket = std::make_unique<WebSocket>(session_, texts_);
  const bool accepted = co_await socket->accept(reader_.request(), most);
  if (!accepted) co_return;
  web_socket_ = std::move(socket);
  used_reply();
  session_.tell_of_stop();
  co_await web_socket_->read();
}

asio::awaitable<void> HttpDialect::serve_editor() {
  in_request_ = false;
  auto known = co_await api_.known_types();
  used_reply();
  if (const auto* refused = std::get_if<Response>(&known)) {
    co_await respond(*refused, false);
    co_return;
  }
  auto& types = std::get<Workshop::KnownTypes>(known);
  auto socket = std::make_unique<EditorSocket>(session_, texts_,
                                               options_.workshop->converse(std::move(types)));
  const bool accepted = co_await socket->accept(reader_.request());
  if (!accepted) co_return;
  editor_ = std::move(socket);
  co_await editor_->serve();
}

asio::awaitable<void> HttpDialect::discard() {
  // A WebSocket goes on reading by itself, but for what breaks its protocol. Unless all that comes
  // behind that is taken in, the client's system throws away what it was told.
  const bool reads_by_itself = web_socket_ != nullptr && !web_socket_->has_ended();
  if (!reads_by_itself && editor_ == nullptr) co_await session_.read_nothing();
}

asio::awaitable<void> HttpDialect::finish() {
  if (web_socket_ != nullptr) co_await web_socket_->finish();
  if (editor_ != nullptr) co_await editor_->finish();
}

asio::awaitable<void> HttpDialect::refuse(const Problem& problem) {
  ++session_.hub().malformed;
  session_.end().give(EndReason::malformed, problem.why.message);
  const Response response = response_of(problem);
  co_await respond(response, false);
}

asio::awaitable<void> HttpDialect::respond(const Response& response, bool keep_alive) {
  in_request_ = false;
  out_ += to_bytes(response, keep_alive, reader_.head().method() == Verb::head);
  co_await written();
}

asio::awaitable<void> HttpDialect::written() {
  out_memory_.resize(out_.capacity());
  used_reply();
  session_.wake_writer();
  while ((has_output() || sending_) && !session_.aborted() && session_.writing()) {
    co_await flushed_.async_wait(kTuple);
  }
}

asio::awaitable<std::optional<Reply>> HttpDialect::ask(protocol::Bytes frame) {
  const auto& message = *flatbuffers::GetSizePrefixedRoot<wire::Message>(frame.data());
  used_reply();
  asked_ = message.id();
  session_.hold(reader_.memory() + (body_ == nullptr ? 0 : body_->memory()));
  const bool submitted = co_await session_.gate().submit(std::move(frame), message);
  if (!submitted) {
    asked_ = 0;
    co_return std::nullopt;
  }
  session_.watch();
  while (!reply_ && !broken_ && !session_.aborted() && session_.writing()) {
    co_await answered_.async_wait(kTuple);
  }
  session_.unwatch();
  if (!reply_) {
    broken_ = true;
    co_return std::nullopt;
  }
  co_return Reply(*std::exchange(reply_, std::nullopt));
}

void HttpDialect::used_reply() {
  owing_ = false;
  composed_.cancel();
}

asio::awaitable<bool> HttpDialect::write(std::span<const OutFrame> frames) {
  if (web_socket_ != nullptr) co_return co_await web_socket_->write(frames);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    co_await take(frames[i]);
    if (web_socket_ != nullptr) {
      // The reader has made one of the connection, so that what follows is written to it.
      co_return co_await web_socket_->write(frames.subspan(i + 1));
    }
    if (out_.size() < kMuch) continue;
    if (!co_await flush()) co_return false;
  }
  co_return co_await flush();
}

asio::awaitable<void> HttpDialect::take(const OutFrame& frame) {
  if (const auto* delivery = std::get_if<ClientDelivery>(&frame)) {
    if (streaming_ && sample_) append_sample(out_, *delivery, *sample_, texts_->redaction);
    if (streaming_ && !sample_) append_events(out_, *delivery, texts_->events);
    out_memory_.resize(out_.capacity());
    co_return;
  }
  co_await take_reply(std::get<protocol::Bytes>(frame));
}

asio::awaitable<void> HttpDialect::take_reply(const protocol::Bytes& frame) {
  const auto& message = *flatbuffers::GetSizePrefixedRoot<wire::Message>(frame.data());
  if (message.id() != 0 && message.id() == asked_) {
    asked_ = 0;
    reply_ = frame;
    owing_ = true;
    answered_.cancel();
    while (owing_ && !session_.aborted()) co_await composed_.async_wait(kTuple);
  } else if (const auto* leaving = message.body_as_Leaving()) {
    if (streaming_) append_event(out_, "leaving", to_text(to_json(*leaving)));
  } else if (const auto* error = message.body_as_Error()) {
    last_words(*error);
  }
}

void HttpDialect::last_words(const wire::Error& error) {
  if (streaming_) {
    const Json json = {{"reason", protocol::text_of(error.message())},
                       {"hint", protocol::text_of(error.hint())}};
    append_event(out_, "error", to_text(json));
  }
  // What became of a request that the engine has is unknown.
  const bool answers = session_.refused() || (in_request_ && asked_ == 0);
  broken_ = true;
  answered_.cancel();
  if (answers) out_ += to_bytes(response_of(error), false, false);
}

Dialect::Heartbeat HttpDialect::heartbeat() const {
  const bool is_sampling = web_socket_ != nullptr && web_socket_->is_sampling();
  return streaming_ || is_sampling ? Heartbeat::shown : Heartbeat::none;
}

bool HttpDialect::has_output() const {
  return !out_.empty() || (web_socket_ != nullptr && web_socket_->has_output());
}

void HttpDialect::ping() {
  if (web_socket_ != nullptr) {
    web_socket_->tell_left_out();
    session_.wake_writer();
    return;
  }
  const std::uint64_t left_out = sample_ ? sample_->take_left_out() : 0;
  if (left_out > 0) append_event(out_, "left_out", to_text({{"rows", left_out}}));
  out_ += ": heartbeat\n\n";
  session_.wake_writer();
}

asio::awaitable<bool> HttpDialect::flush() {
  sending_ = true;
  bool works = true;
  while (works && !out_.empty()) {
    const std::string bytes = std::exchange(out_, {});
    out_memory_.resize(bytes.capacity());
    const std::vector<asio::const_buffer> buffers(1, asio::buffer(bytes));
    works = co_await session_.send(buffers);
  }
  out_memory_.resize(0);
  sending_ = false;
  flushed_.cancel();
  co_return works;
}

}  // namespace gorgo::server::http

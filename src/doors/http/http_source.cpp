#include "doors/http/http_source.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "codec/json_parts.hpp"
#include "codec/parse_json.hpp"
#include "doors/hash.hpp"

namespace gorgo::doors::http {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBody = std::size_t{64} << 20;  // bytes
constexpr long kOk = 200, kNotModified = 304;
constexpr long kAborted = 0;  // by `wake`

/// The value of a header line that has this name; empty: it has another.
std::string value_of(std::string_view line, std::string_view name) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const auto colon = line.find(':');
  if (colon == line.npos || !std::ranges::equal(line.substr(0, colon), name, same)) return "";
  line.remove_prefix(colon + 1);
  const auto begin = line.find_first_not_of(" \t");
  const auto end = line.find_last_not_of(" \t\r\n");
  return begin == line.npos ? "" : std::string(line.substr(begin, end - begin + 1));
}

/// What each event of a body is written in: a line, or an object of JSON where the body is one or
/// an array of them.
std::deque<std::string> parts_of(const std::string& text, bool is_json) {
  if (is_json && !codec::parse_json<Json>(text).is_discarded()) {
    const auto parts = codec::json_parts(text);
    return {parts.begin(), parts.end()};
  }
  std::deque<std::string> parts;
  std::string_view left = text;
  while (!left.empty()) {
    const auto end = std::min(left.find('\n'), left.size());
    parts.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return parts;
}

}  // namespace

HttpSource::HttpSource(const Settings& settings, const Types& types, const Position& position)
    : settings_(settings), types_(types), curl_(curl_easy_init()), body_(body_in(position)) {}

HttpSource::Body HttpSource::body_in(const Position& position) {
  const Json json = Json::parse(position, nullptr, false);
  if (!json.is_object()) return {};
  return {.tag = json.value("tag", ""),
          .modified = json.value("modified", ""),
          .hash = json.value("hash", std::uint64_t{0}),
          .taken = json.value("taken", std::uint64_t{0}),
          .whole = json.value("whole", false)};
}

Position HttpSource::position() const {
  return Json{{"tag", body_.tag},
              {"modified", body_.modified},
              {"hash", body_.hash},
              {"taken", body_.taken},
              {"whole", body_.whole}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string HttpSource::describe(const Position& position) const {
  const Body body = body_in(position);
  if (body.taken == 0) return "";
  const std::string which = body.tag.empty() ? body.modified : body.tag;
  return std::to_string(body.taken) + " of the body" + (which.empty() ? "" : " " + which);
}

void HttpSource::wake() {
  const std::lock_guard lock(mutex_);
  is_woken_ = true;
  woken_.notify_all();
}

void HttpSource::wait(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  woken_.wait_until(lock, until, [this] { return is_woken_; });
  is_woken_ = false;
}

std::size_t HttpSource::on_text(char* bytes, std::size_t, std::size_t size, void* self) {
  auto& text = static_cast<HttpSource*>(self)->text_;
  if (text.size() + size > kMostBody) return 0;
  text.append(bytes, size);
  return size;
}

std::size_t HttpSource::on_header(char* bytes, std::size_t, std::size_t size, void* self) {
  auto& coming = static_cast<HttpSource*>(self)->coming_;
  const std::string_view line(bytes, size);
  if (line.starts_with("HTTP/")) coming = {};  // that of a redirection comes before
  if (auto tag = value_of(line, "etag"); !tag.empty()) coming.tag = std::move(tag);
  if (auto time = value_of(line, "last-modified"); !time.empty()) coming.modified = std::move(time);
  return size;
}

int HttpSource::on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto* const source = static_cast<HttpSource*>(self);
  const std::lock_guard lock(source->mutex_);
  return source->is_woken_ ? 1 : 0;
}

Result<long> HttpSource::perform() {
  CURL* const curl = curl_.get();
  char why[CURL_ERROR_SIZE] = "";
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_URL, settings_.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "gorgo");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 5L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_text);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
  if (!settings_.ca.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, settings_.ca.c_str());
  if (!settings_.user.empty()) {
    const auto password = password_of(settings_);
    if (!password) return password.error();
    curl_easy_setopt(curl, CURLOPT_USERNAME, settings_.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, password->c_str());
  }
  curl_slist* headers = nullptr;
  if (body_.whole && !body_.tag.empty()) {
    headers = curl_slist_append(headers, ("If-None-Match: " + body_.tag).c_str());
  }
  if (body_.whole && !body_.modified.empty()) {
    headers = curl_slist_append(headers, ("If-Modified-Since: " + body_.modified).c_str());
  }
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  const CURLcode code = curl_easy_perform(curl);
  curl_slist_free_all(headers);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_OK) return status;
  if (code == CURLE_ABORTED_BY_CALLBACK) return kAborted;
  if (code == CURLE_WRITE_ERROR) {
    return Error{settings_.target() + ": the body has more than 64 MiB, inflated", ""};
  }
  return Error{settings_.target() + ": " + (*why != '\0' ? why : curl_easy_strerror(code)), ""};
}

Result<void> HttpSource::request() {
  text_.clear();
  coming_ = {};
  const auto status = perform();
  if (!status) return status.error();
  if (*status == kAborted) return {};
  // The caller tries again after its own pause, and the door fails until it gets an answer.
  if (*status != kOk && *status != kNotModified) {
    return Error{settings_.target() + ": the server answers " + std::to_string(*status), ""};
  }
  next_request_ = Clock::now() + std::chrono::seconds(settings_.every);
  if (*status == kOk) begin_body();
  return {};
}

void HttpSource::begin_body() {
  coming_.hash = hash(text_);
  const bool is_known = coming_.hash == body_.hash && (body_.whole || body_.taken > 0);
  if (is_known && body_.whole) return;
  coming_.taken = is_known ? body_.taken : 0;
  body_ = std::exchange(coming_, {});
  lines_ = parts_of(std::exchange(text_, {}), settings_.format == "json");
  reader_ = std::make_unique<LineReader>(settings_, types_, settings_.target());
  // The reader has to see a header again; what stands behind it comes to nothing.
  Arrived known;
  for (std::uint64_t i = 0; i < body_.taken && !lines_.empty(); ++i) {
    reader_->take(lines_.front(), known);
    lines_.pop_front();
  }
}

void HttpSource::take(Arrived& arrived) {
  reader_->begin_batch();
  while (!lines_.empty() && !arrived.full()) {
    reader_->take(lines_.front(), arrived);
    lines_.pop_front();
    ++body_.taken;
  }
  body_.whole = lines_.empty();
  if (body_.whole) reader_->end(arrived);
}

Result<Arrived> HttpSource::poll(std::chrono::milliseconds patience) {
  Arrived arrived;
  const auto until = Clock::now() + patience;
  if (lines_.empty() && Clock::now() < next_request_) wait(std::min(until, next_request_));
  if (lines_.empty() && Clock::now() >= next_request_) {
    auto requested = request();
    const std::lock_guard lock(mutex_);
    is_woken_ = false;
    if (!requested) return requested.error();
  }
  if (lines_.empty()) return {std::in_place, std::move(arrived)};
  take(arrived);
  arrived.position = position();
  return {std::in_place, std::move(arrived)};
}

}  // namespace gorgo::doors::http

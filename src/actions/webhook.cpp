#include "actions/webhook.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <utility>

#include "actions/curl.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::actions {
namespace {

using std::chrono::milliseconds;
using What = Outcome::What;

/// Answers that another attempt would get, too: the receiver cannot take this event.
bool is_final_status(long status) {
  constexpr std::array<long, 6> kFinal = {400, 405, 410, 413, 415, 422};
  return std::ranges::find(kFinal, status) != kFinal.end();
}

}  // namespace

std::string body_of(const Order& order) {
  const Event& first = order.rows.front().event;
  const bool is_list = order.rows.size() > 1;
  std::string body = "{\"type\":";
  codec::append_json_string(body, first.type);
  body += ",\"timestamp\":\"";
  codec::append_rfc3339(body, first.timestamp.value_or(0));
  body += "\",\"data\":";
  if (is_list) body += '[';
  for (const auto& row : order.rows) {
    if (&row != order.rows.data()) body += ',';
    doors::append_line(body, row);
  }
  if (is_list) body += ']';
  return body + "}";
}

struct Webhook::Pool {
  struct Free {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  using Easy = std::unique_ptr<CURL, Free>;

  CURLM* multi = curl_multi_init();
  std::vector<Easy> idle;
  std::atomic<bool> is_woken = false;

  Easy take() {
    if (idle.empty()) return Easy(curl_easy_init());
    Easy easy = std::move(idle.back());
    idle.pop_back();
    curl_easy_reset(easy.get());
    return easy;
  }
};

/// One attempt on its way.
class Webhook::Post {
 public:
  Post(const Settings& settings, const Signer* signer, const Order& order, Pool& pool)
      : body_(body_of(order)), easy_(pool.take()), pool_(pool) {
    add_headers(settings, signer, order);
    CURL* const curl = easy_.get();
    curl_easy_setopt(curl, CURLOPT_URL, settings.url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body_.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body_.size()));
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers_.get());
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(settings.timeout_ms));
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    // A name that is being looked up holds up nobody who stops.
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, this);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error_.data());
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
    if (!settings.ca.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, settings.ca.c_str());
    curl_multi_add_handle(pool_.multi, curl);
  }
  ~Post() {
    curl_multi_remove_handle(pool_.multi, easy_.get());
    pool_.idle.push_back(std::move(easy_));
  }
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  Outcome outcome(CURLcode code) const {
    // A body that was given up says that there was a status.
    if (code != CURLE_OK && code != CURLE_WRITE_ERROR) {
      const char* const why = error_[0] == '\0' ? curl_easy_strerror(code) : error_.data();
      return {What::failed, why};
    }
    long status = 0;
    curl_off_t pause = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &pause);
    if (status >= 200 && status < 300) return {};
    return {is_final_status(status) ? What::refused : What::failed,
            "the receiver answered " + std::to_string(status),
            std::chrono::seconds(std::clamp<curl_off_t>(pause, 0, 3600))};
  }

 private:
  struct Free {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  const std::string body_;
  Pool::Easy easy_;
  Pool& pool_;
  std::unique_ptr<curl_slist, Free> headers_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::size_t body_bytes_ = 0;  // of the answer

  /// What a receiver answers beside its status means nothing, and may have no end.
  static std::size_t on_body(char*, std::size_t, std::size_t size, void* self) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    std::size_t& bytes = static_cast<Post*>(self)->body_bytes_;
    bytes += size;
    return bytes > kMost ? 0 : size;
  }

  void add_headers(const Settings& settings, const Signer* signer, const Order& order) {
    const std::int64_t seconds = std::time(nullptr);
    add("Content-Type: application/json");
    add("Expect:");
    add("User-Agent: gorgo");
    add("webhook-id: " + order.key);
    add("webhook-timestamp: " + std::to_string(seconds));
    if (signer != nullptr) {
      add("webhook-signature: " + signer->sign(order.key, seconds, body_));
    }
    for (const auto& [name, value] : settings.headers) add(name + ": " + value);
  }
  void add(const std::string& line) {
    curl_slist* const list = curl_slist_append(headers_.get(), line.c_str());
    if (list == nullptr) throw std::bad_alloc();
    static_cast<void>(headers_.release());
    headers_.reset(list);
  }
};

Webhook::Webhook(const Settings& settings, std::optional<Signer> signer)
    : settings_(settings), signer_(std::move(signer)), pool_((start_curl(), new Pool)) {
  curl_multi_setopt(pool_->multi, CURLMOPT_MAXCONNECTS, static_cast<long>(settings.in_flight));
}

Webhook::~Webhook() {
  pool_->idle.clear();
  curl_multi_cleanup(pool_->multi);
}

void Webhook::wake() {
  pool_->is_woken = true;
  curl_multi_wakeup(pool_->multi);
}

std::vector<Outcome> Webhook::attempt(std::span<const Order* const> orders) {
  std::vector<Outcome> outcomes(orders.size(), {What::failed, "the server ends"});
  std::vector<std::pair<std::size_t, std::unique_ptr<Post>>> flying;
  std::size_t next = 0;
  while (!pool_->is_woken && (next < orders.size() || !flying.empty())) {
    while (next < orders.size() && flying.size() < static_cast<std::size_t>(settings_.in_flight)) {
      flying.emplace_back(next, std::make_unique<Post>(settings_, signer_ ? &*signer_ : nullptr,
                                                       *orders[next], *pool_));
      ++next;
    }
    int running = 0, left = 0;
    curl_multi_perform(pool_->multi, &running);
    bool has_news = false;
    while (const CURLMsg* message = curl_multi_info_read(pool_->multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      Post* post = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &post);
      const auto of_post = std::ranges::find_if(
          flying, [post](const auto& one) { return one.second.get() == post; });
      outcomes[of_post->first] = post->outcome(code);
      flying.erase(of_post);
      has_news = true;
    }
    if (!has_news && running > 0) curl_multi_poll(pool_->multi, nullptr, 0, 1000, nullptr);
  }
  return outcomes;
}

}  // namespace gorgo::actions

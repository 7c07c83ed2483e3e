#include "actions/mail.hpp"

#include <curl/curl.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

#include "actions/curl.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::actions {
namespace {

using What = Outcome::What;

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::string base64(std::string_view bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), kVariant);
  text.pop_back();  // the zero byte
  return text;
}

/// The value of a header that may hold anything. What is encoded has lines of at most 75 bytes,
/// none of which ends within a character.
std::string header_value(const std::string& text) {
  constexpr std::size_t kMostBytes = 45;
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (text.size() <= kMostBytes && std::ranges::all_of(text, is_plain) &&
      text.find("=?") == text.npos) {
    return text;
  }
  std::string value;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(at + kMostBytes, text.size());
    const auto goes_on = [&] { return (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; };
    while (end < text.size() && end > at + 1 && goes_on()) --end;
    value += (at == 0 ? "" : "\r\n ") + ("=?UTF-8?B?" + base64(text.substr(at, end - at)) + "?=");
    at = end;
  }
  return value;
}

std::string text_of(const Order& order) {
  std::string text;
  for (const auto& row : order.rows) {
    text += row.event.type + " at ";
    codec::append_rfc3339(text, row.event.timestamp.value_or(0));
    text += ", id " + doors::id_of(row.place) + "\n";
    for (const Attribute& attribute : row.event.attributes) {
      text += "  " + attribute.name + ": " + text_in(row, attribute.name) + "\n";
    }
    text += "\n";
  }
  return text;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  // The names of days and months are those of the C locale, which the program never leaves.
  const std::size_t size =
      std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S +0000", &parts);
  return {text.data(), size};
}

/// The mail on its way to the server.
struct Upload {
  std::string_view left;

  static std::size_t read(char* to, std::size_t size, std::size_t count, void* upload) {
    auto& left = static_cast<Upload*>(upload)->left;
    const std::size_t taken = std::min(size * count, left.size());
    std::copy_n(left.data(), taken, to);
    left.remove_prefix(taken);
    return taken;
  }
};

/// Whether the server will never take this mail.
bool is_final_reply(long code) { return code >= 550 && code <= 554; }

}  // namespace

std::string mail_of(const Order& order, const Settings& settings, const std::string& date) {
  std::string recipients;
  for (const std::string& one : settings.recipients) {
    recipients += (recipients.empty() ? "" : ",\r\n ") + one;
  }
  std::string mail = "Date: " + date + "\r\nFrom: " + settings.from + "\r\nTo: " + recipients +
                     "\r\nSubject: " + header_value(filled(settings.subject, order.rows.front())) +
                     "\r\nMessage-ID: <" + order.key + "." + settings.from +
                     ">\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
                     "Content-Type: text/plain; charset=utf-8\r\n"
                     "Content-Transfer-Encoding: base64\r\n\r\n";
  const std::string text = base64(text_of(order));
  constexpr std::size_t kLine = 76;
  for (std::size_t at = 0; at < text.size(); at += kLine) mail += text.substr(at, kLine) + "\r\n";
  return mail;
}

Mail::Mail(const Settings& settings, std::string password)
    : settings_(settings), password_(std::move(password)) {
  start_curl();
}

std::vector<Outcome> Mail::attempt(std::span<const Order* const> orders) {
  std::vector<Outcome> outcomes;
  for (const Order* order : orders) {
    outcomes.push_back(is_woken_ ? Outcome{What::failed, "the server ends"} : send(*order));
  }
  return outcomes;
}

Outcome Mail::send(const Order& order) {
  const std::string mail = mail_of(order, settings_, date_now());
  Upload upload{mail};
  std::unique_ptr<curl_slist, FreeList> recipients;
  for (const std::string& one : settings_.recipients) {
    curl_slist* const list = curl_slist_append(recipients.get(), ("<" + one + ">").c_str());
    static_cast<void>(recipients.release());
    recipients.reset(list);
  }
  const std::unique_ptr<CURL, FreeEasy> easy(curl_easy_init());
  CURL* const curl = easy.get();
  std::array<char, CURL_ERROR_SIZE> error{};
  curl_easy_setopt(curl, CURLOPT_URL, settings_.server.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(curl, CURLOPT_USE_SSL,
                   static_cast<long>(settings_.starttls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
  if (!settings_.ca.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, settings_.ca.c_str());
  if (!settings_.user.empty()) {
    curl_easy_setopt(curl, CURLOPT_USERNAME, settings_.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, password_.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_MAIL_FROM, ("<" + settings_.from + ">").c_str());
  curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients.get());
  curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, &Upload::read);
  curl_easy_setopt(curl, CURLOPT_READDATA, &upload);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(settings_.timeout_ms));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  // A name that is being looked up holds up nobody who stops.
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error.data());
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &is_woken_);
  curl_easy_setopt(
      curl, CURLOPT_XFERINFOFUNCTION,
      +[](void* is_woken, curl_off_t, curl_off_t, curl_off_t, curl_off_t) -> int {
        return static_cast<std::atomic<bool>*>(is_woken)->load() ? 1 : 0;
      });
  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_OK) return {};
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  const std::string problem = error[0] == '\0' ? curl_easy_strerror(code) : error.data();
  return {is_final_reply(status) ? What::refused : What::failed,
          problem + (status > 0 ? ", the server answered " + std::to_string(status) : "")};
}

}  // namespace gorgo::actions

#pragma once

#include <curl/curl.h>

namespace gorgo::actions {

/// To be called before anything else of libcurl. Any thread.
inline void start_curl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(started);
}

}  // namespace gorgo::actions

#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <map>
#include <utility>

namespace gorgo::server {

/// How many of something each network (`network_of`) has, so that none takes what there is for all.
/// One thread.
class NetworkCounts {
 public:
  /// One of them, which counts until it is destroyed or another one takes its place. The counts
  /// outlive it.
  class Share {
   public:
    Share() = default;
    Share(NetworkCounts& counts, const boost::asio::ip::address& from)
        : counts_(&counts), at_(counts.add(from)) {}
    Share(Share&& other) noexcept
        : counts_(std::exchange(other.counts_, nullptr)), at_(other.at_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(counts_, other.counts_);
      std::swap(at_, other.at_);
      other.leave();
      return *this;
    }
    ~Share() { leave(); }

    /// Whether it counts, and has not left.
    bool is_counted() const { return counts_ != nullptr; }
    void leave() {
      if (counts_ != nullptr) std::exchange(counts_, nullptr)->remove(at_);
    }

   private:
    friend NetworkCounts;
    NetworkCounts* counts_ = nullptr;  // null: counts nowhere
    std::map<boost::asio::ip::address, std::size_t>::iterator at_ = {};
  };

  std::size_t of(const boost::asio::ip::address& address) const;
  /// Of all networks together.
  std::size_t all() const { return all_; }

 private:
  using Counts = std::map<boost::asio::ip::address, std::size_t>;

  Counts counts_;  // none is zero
  std::size_t all_ = 0;

  Counts::iterator add(const boost::asio::ip::address& from);
  void remove(Counts::iterator at);
};

}  // namespace gorgo::server

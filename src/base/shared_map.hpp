#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/shared_vector.hpp"

namespace gorgo {

/// A hash table that copies share as they share a SharedVector; it has the same thread-safety.
/// `Hash` may tell fewer keys apart than `==` does, see `for_each_alike`.
template <class Key, class Value, class Hash = std::hash<Key>>
class SharedMap {
 public:
  std::size_t size() const { return size_; }

  /// Null when there is no such key. The pointer is valid until this map changes or ends.
  template <class Sought>
  const Value* find(const Sought& key) const {
    if (buckets_.size() == 0) return nullptr;
    for (const Link* link = buckets_[bucket_of(key)].get(); link; link = link->next.get()) {
      if (link->key == key) return &link->value;
    }
    return nullptr;
  }

  /// Calls `f(key, value)` for every entry whose key has the hash of `key`, and perhaps for others.
  template <class Sought, class F>
  void for_each_alike(const Sought& key, F&& f) const {
    if (buckets_.size() == 0) return;
    for (const Link* link = buckets_[bucket_of(key)].get(); link; link = link->next.get()) {
      f(link->key, link->value);
    }
  }

  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      for (const Link* link = buckets_[i].get(); link; link = link->next.get()) {
        f(link->key, link->value);
      }
    }
  }

  /// Precondition: the key is not there.
  void insert(Key key, Value value) {
    if (size_ == buckets_.size()) grow();
    ++size_;
    const std::size_t bucket = bucket_of(key);
    push(bucket, std::move(key), std::move(value));
  }

  /// Precondition: the key is there.
  template <class Sought>
  void erase(const Sought& key) {
    --size_;
    const std::size_t bucket = bucket_of(key);
    std::vector<const Link*> before;
    const Link* link = buckets_[bucket].get();
    for (; !(link->key == key); link = link->next.get()) before.push_back(link);
    LinkPtr rest = link->next;
    for (; !before.empty(); before.pop_back()) {
      rest = std::make_shared<const Link>(Link{before.back()->key, before.back()->value, rest});
    }
    buckets_.set(bucket, std::move(rest));
  }

 private:
  struct Link;
  using LinkPtr = std::shared_ptr<const Link>;
  struct Link {
    Key key;
    Value value;
    LinkPtr next;
  };

  template <class Sought>
  std::size_t bucket_of(const Sought& key) const {
    return Hash()(key) & (buckets_.size() - 1);
  }

  void push(std::size_t bucket, Key key, Value value) {
    buckets_.set(bucket, std::make_shared<const Link>(
                             Link{std::move(key), std::move(value), buckets_[bucket]}));
  }

  void grow() {
    SharedMap larger;
    const std::size_t count = buckets_.size() == 0 ? 8 : 2 * buckets_.size();
    for (std::size_t i = 0; i < count; ++i) larger.buckets_.push_back({});
    for_each([&](const Key& key, const Value& value) {
      larger.push(larger.bucket_of(key), key, value);
    });
    buckets_ = std::move(larger.buckets_);
  }

  SharedVector<LinkPtr> buckets_;  // as many as a power of two
  std::size_t size_ = 0;
};

}  // namespace gorgo

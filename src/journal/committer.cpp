#include "journal/committer.hpp"

#include <utility>

#include "base/thread_name.hpp"

namespace gorgo::journal {

Committer::Committer(Journal& journal, Notify notify)
    : journal_(journal),
      notify_(std::move(notify)),
      durable_(journal.durable()),
      thread_([this] { run(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  asked_.notify_one();
  done_.notify_all();
  thread_.join();
}

void Committer::request(Place place) {
  {
    const std::lock_guard lock(mutex_);
    if (place <= wanted_) return;
    wanted_ = place;
  }
  asked_.notify_one();
}

Result<void> Committer::wait(Place place) {
  request(place);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return durable_ > place || failure_ || stopping_; });
  if (durable_ > place) return {};
  if (failure_) return *failure_;
  return Error{"the journal is closed", ""};
}

void Committer::run() {
  name_thread("committer");
  std::unique_lock lock(mutex_);
  while (!failure_) {
    asked_.wait(lock, [&] { return stopping_ || wanted_ >= durable_; });
    if (stopping_) return;
    lock.unlock();
    const Result<Place> synced = journal_.sync();
    lock.lock();
    if (synced) {
      durable_ = *synced;
    } else {
      failure_ = synced.error();
    }
    lock.unlock();
    done_.notify_all();
    if (notify_) notify_(synced);
    lock.lock();
  }
}

}  // namespace gorgo::journal

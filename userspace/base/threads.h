#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace hawk {

/// A thread that runs `work`; not joinable when none is to be had (the limit of the user or of the cgroup, no memory).
/// That `work` finds no memory ends it there, and not the program.
template <class Work>
std::jthread try_thread(Work work) noexcept {
  try {
    return std::jthread([work = std::move(work)]() mutable {
      try {
        work();
      } catch (const std::bad_alloc&) {  // what waits for its work looks whether it is done
      }
    });
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return {};
}

/// Calls `work` with every element, all at the same time, up to a few hundred; one after the other where there are no
/// threads for it.
template <class Element, class Work>
void for_each_at_once(std::vector<Element>& elements, Work work) noexcept {
  constexpr std::size_t kMostThreads = 256;
  std::atomic<std::size_t> next = 0;
  const auto work_on = [&] {
    for (std::size_t i = next++; i < elements.size(); i = next++) work(elements[i]);
  };
  std::vector<std::jthread> threads;
  try {
    threads.reserve(std::min(elements.size(), kMostThreads));
  } catch (const std::bad_alloc&) {
  }
  while (threads.size() + 1 < threads.capacity()) {
    std::jthread thread = try_thread(work_on);
    if (!thread.joinable()) break;
    threads.push_back(std::move(thread));
  }
  work_on();
}

/// Destroys all elements at the same time: those that wait for the kernel when they end, wait together.
template <class Element>
void destroy_at_once(std::vector<Element>& elements) noexcept {
  for_each_at_once(elements, [](Element& element) { const Element destroyed = std::move(element); });
  elements.clear();
}

}  // namespace hawk

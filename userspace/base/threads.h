#pragma once

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

/// Calls `work` with every element, all at the same time; one after the other where there are no threads for it.
template <class Element, class Work>
void for_each_at_once(std::vector<Element>& elements, Work work) noexcept {
  std::vector<std::jthread> threads;
  try {
    threads.reserve(elements.size());
  } catch (const std::bad_alloc&) {
  }
  for (Element& element : elements) {
    std::jthread thread;
    if (threads.size() < threads.capacity()) thread = try_thread([&element, &work] { work(element); });
    if (thread.joinable()) {
      threads.push_back(std::move(thread));
    } else {
      work(element);
    }
  }
}

/// Destroys all elements at the same time: those that wait for the kernel when they end, wait together.
template <class Element>
void destroy_at_once(std::vector<Element>& elements) noexcept {
  for_each_at_once(elements, [](Element& element) { const Element destroyed = std::move(element); });
  elements.clear();
}

}  // namespace hawk

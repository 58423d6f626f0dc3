// SPDX-License-Identifier: MIT
// nereid/ownership.h: owners of what the C ABI hands out. Small, so that including us stays cheap:
// <memory> and <functional> together take longer to compile than all of our headers.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace nereid::detail {

// The one owner of a handle.
template <class T, void (*kDestroy)(T*)>
class Handle {
 public:
  explicit Handle(T* handle = nullptr) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() {
    if (handle_) kDestroy(handle_);
  }
  T* get() const { return handle_; }

 private:
  T* handle_;
};

// An object whose last owner releases it. Copies may be made and dropped by any threads.
template <class T>
class Shared {
 public:
  Shared() = default;
  template <class Release>
  Shared(T* object, Release release) : object_(object) {
    try {
      owner_ = new OwnerWith<Release>(object, release);
    } catch (...) {
      release(object);
      throw;
    }
  }
  Shared(const Shared& other) : object_(other.object_), owner_(other.owner_) {
    if (owner_) __atomic_add_fetch(&owner_->copies, 1, __ATOMIC_RELAXED);
  }
  Shared(Shared&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        owner_(std::exchange(other.owner_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(object_, other.object_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~Shared() {
    if (owner_ && __atomic_sub_fetch(&owner_->copies, 1, __ATOMIC_ACQ_REL) == 0) delete owner_;
  }
  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  struct Owner {
    virtual ~Owner() = default;
    int64_t copies = 1;
  };
  template <class Release>
  struct OwnerWith : Owner {
    OwnerWith(T* o, Release r) : object(o), release(std::move(r)) {}
    ~OwnerWith() override { release(object); }
    T* object;
    Release release;
  };

  T* object_ = nullptr;
  Owner* owner_ = nullptr;
};

}  // namespace nereid::detail

namespace nereid {

// A function, lambda or other callable of yours; copies share it. Takes a std::function too.
template <class Signature>
class Function;

template <class Result, class... Arguments>
class Function<Result(Arguments...)> {
 public:
  Function() = default;
  Function(std::nullptr_t) {}  // NOLINT: implicit
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Function> &&
           std::is_invocable_r_v<Result, std::decay_t<F>&, Arguments...>)
      Function(F&& callable) {  // NOLINT: implicit
    using Kept = std::decay_t<F>;
    if (is_empty<Kept>(callable)) return;
    callable_ = detail::Shared<void>(new Kept(std::forward<F>(callable)),
                                     [](void* kept) { delete static_cast<Kept*>(kept); });
    call_ = [](void* kept, Arguments... arguments) -> Result {
      return static_cast<Result>(
          (*static_cast<Kept*>(kept))(std::forward<Arguments>(arguments)...));
    };
  }
  Result operator()(Arguments... arguments) const {
    return call_(callable_.get(), std::forward<Arguments>(arguments)...);
  }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  // A null pointer, or an object that says so itself, as an empty std::function does.
  template <class F>
  static bool is_empty(const F& callable) {
    if constexpr (std::is_pointer_v<F>)
      return callable == nullptr;
    else if constexpr (requires { callable.operator bool(); })
      return !callable.operator bool();
    else
      return false;
  }

  detail::Shared<void> callable_;
  Result (*call_)(void*, Arguments...) = nullptr;
};

}  // namespace nereid

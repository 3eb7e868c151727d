#include "userspace/serving/oom_hook.h"

#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace hawk {
namespace {

using Json = nlohmann::json;

constexpr const char* kPrekill = "io.systemd.oom.Prekill";
constexpr const char* kService = "org.varlink.service";
constexpr const char* kDescription =
    "interface io.systemd.oom.Prekill\n\n"
    "# The cgroup is about to be killed for lack of memory, once this has been answered.\n"
    "method Notify(cgroup: string) -> ()\n";

Json reply(Json parameters) { return {{"parameters", std::move(parameters)}}; }

Json failure(const char* name, Json parameters) {
  return {{"error", std::string(kService) + "." + name}, {"parameters", std::move(parameters)}};
}

/// The text of this name among a call's parameters; nullopt: there is none.
std::optional<std::string> text_among(const Json& parameters, const char* name) {
  const auto found = parameters.is_object() ? parameters.find(name) : parameters.end();
  if (found == parameters.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

Json answer_to_call(const std::string& method, const Json& parameters, const OomHook::Handler& handler) {
  if (method == std::string(kPrekill) + ".Notify") {
    const std::optional<std::string> cgroup = text_among(parameters, "cgroup");
    if (!cgroup || !cgroup->starts_with('/')) return failure("InvalidParameter", {{"parameter", "cgroup"}});
    handler(*cgroup);
    return reply(Json::object());
  }
  if (method == std::string(kService) + ".GetInfo") {
    return reply({{"vendor", "hawktrace"},
                  {"product", "hawktrace"},
                  {"version", HAWKTRACE_VERSION},
                  {"url", ""},
                  {"interfaces", {kService, kPrekill}}});
  }
  if (method == std::string(kService) + ".GetInterfaceDescription") {
    const std::optional<std::string> name = text_among(parameters, "interface");
    if (name == kPrekill) return reply({{"description", kDescription}});
    return failure("InterfaceNotFound", {{"interface", name.value_or("")}});
  }
  return failure("MethodNotFound", {{"method", method}});
}

}  // namespace

std::optional<std::string> answer_to_varlink(std::string_view message, const OomHook::Handler& handler) {
  const Json call = Json::parse(message, nullptr, false);
  const std::optional<std::string> method = text_among(call, "method");
  if (!method) return std::nullopt;
  const auto parameters = call.find("parameters");
  const Json answer = answer_to_call(*method, parameters == call.end() ? Json::object() : *parameters, handler);
  const auto one_way = call.find("oneway");
  const bool is_wanted = one_way == call.end() || !one_way->is_boolean() || !one_way->get<bool>();
  return is_wanted ? answer.dump() : std::string();
}

Result<std::unique_ptr<OomHook>> OomHook::listen(EventLoop& loop, const std::string& path, Handler handler) {
  const ListenAddress address = HAWK_TRY(parse_listen_address("unix:" + path));
  Listener listener = HAWK_TRY(listen_at(address));
  return std::unique_ptr<OomHook>(new OomHook(loop, std::move(listener), std::move(handler)));
}

OomHook::OomHook(EventLoop& loop, Listener listener, Handler handler)
    : loop_(loop), listener_(std::move(listener)), handler_(std::move(handler)) {
  loop_.watch(listener_.socket.get(), [this](short) -> Result<void> {
    accept();
    return {};
  });
}

OomHook::~OomHook() {
  while (!clients_.empty()) close(clients_.front());
  loop_.forget(listener_.socket.get());
  listener_.socket.reset();
  remove_socket(listener_);
}

void OomHook::accept() {
  UniqueFd socket(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return;
  if (clients_.size() == kMostClients) close(clients_.front());
  const int fd = socket.get();
  clients_.push_back({.socket = std::move(socket)});
  loop_.watch(fd, [this, fd](short) -> Result<void> {
    receive(fd);
    return {};
  });
}

void OomHook::receive(int fd) {
  const auto client =
      std::find_if(clients_.begin(), clients_.end(), [fd](const Client& known) { return known.socket.get() == fd; });
  if (client == clients_.end()) return;
  std::array<char, 4096> piece;
  const ssize_t count = ::recv(fd, piece.data(), piece.size(), 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count > 0) client->received.append(piece.data(), static_cast<std::size_t>(count));
  if (count <= 0 || !take_messages(*client)) close(*client);
}

/// False: with this client nothing more is to be said.
bool OomHook::take_messages(Client& client) const {
  std::size_t end = 0;
  while ((end = client.received.find('\0')) != std::string::npos) {
    std::optional<std::string> answer = answer_to_varlink(client.received.substr(0, end), handler_);
    client.received.erase(0, end + 1);
    if (!answer) return false;
    if (answer->empty()) continue;
    *answer += '\0';
    const ssize_t sent = ::send(client.socket.get(), answer->data(), answer->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent != static_cast<ssize_t>(answer->size())) return false;
  }
  return client.received.size() <= kLongestMessage;
}

void OomHook::close(const Client& client) {
  loop_.forget(client.socket.get());
  std::erase_if(clients_, [&client](const Client& known) { return &known == &client; });
}

}  // namespace hawk

#include "userspace/serving/serving.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <utility>

#include "userspace/serving/background_work.h"
#include "userspace/serving/http_server.h"
#include "userspace/serving/metrics.h"
#include "userspace/serving/profile_requests.h"
#include "userspace/serving/push.h"
#include "userspace/serving/serving_plan.h"
#include "userspace/serving/targets_json.h"
#include "userspace/serving/top_stack_keeper.h"

namespace hawk {
namespace {

/// Profiles that are being written, or wait for that.
constexpr std::size_t kMaxWork = 16;

constexpr const char* kIndex =
    "hawktrace: heaps of this host's services\n"
    "/metrics                                  for Prometheus\n"
    "/targets                                  what is traced, as JSON\n"
    "/status                                   the same, to read\n"
    "/targets/NAME/debug/pprof/heap            a profile for go tool pprof: ?seconds=N, ?debug=1\n"
    "/targets/NAME/debug/pprof/allocs          the same, allocated bytes first\n"
    "/debug/pprof/heap?target=NAME             as above\n"
    "/healthz                                  whether the daemon answers";

using Path = std::vector<std::string>;

/// A number below `most`; nullopt: it is none.
std::optional<unsigned> number_in(const HttpRequest& request, const char* name, unsigned most) {
  const auto found = request.query.find(name);
  if (found == request.query.end()) return 0;
  unsigned number = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > most) return std::nullopt;
  return number;
}

class HttpServing : public Serving {
 public:
  HttpServing(EventLoop& loop, ServedTargets& targets, std::unique_ptr<BackgroundWork> work, Access access)
      : targets_(targets),
        work_(std::move(work)),
        profiles_(loop, targets, *work_),
        top_stacks_(targets, *work_),
        push_(loop, targets, *work_),
        access_(std::move(access)),
        server_(loop, [this](const HttpRequest& request, const HttpPeer& peer, Answer answer) {
          return handle(request, peer, std::move(answer));
        }) {}

  Result<void> begin(ServingPlan plan) {
    HAWK_TRY_VOID(server_.listen(plan.addresses));
    HAWK_TRY_VOID(push_.send_to(std::move(plan.push)));
    server_.use_tls(std::move(plan.tls));
    access_ = std::move(plan.access);
    top_stack_count_ = plan.top_stacks;
    return {};
  }

  Result<void> reload(const ServingOptions& options) override { return begin(HAWK_TRY(plan_serving(options))); }
  std::vector<std::string> addresses() const override { return server_.addresses(); }

 private:
  std::shared_ptr<void> handle(const HttpRequest& request, const HttpPeer& peer, Answer answer) {
    const Path& path = request.path;
    if (request.method != "GET" && request.method != "HEAD") {
      HttpResponse response = plain_response(405, "only GET and HEAD");
      response.headers.emplace_back("Allow", "GET, HEAD");
      answer(std::move(response));
      return nullptr;
    }
    if (path == Path{"healthz"}) {
      answer(plain_response(200, "ok"));
      return nullptr;
    }
    if (std::optional<HttpResponse> refusal = access_.refusal(request, peer)) {
      answer(std::move(*refusal));
      return nullptr;
    }
    if (std::optional<HttpResponse> page = page_of(path)) {
      answer(std::move(*page));
      return nullptr;
    }
    return answer_profile(request, std::move(answer));
  }

  /// nullopt: it is not that of a page.
  std::optional<HttpResponse> page_of(const Path& path) {
    HttpResponse page;
    if (path.empty()) return plain_response(200, kIndex);
    if (path == Path{"status"}) {
      page.body = targets_.status_text();
    } else if (path == Path{"targets"}) {
      page.content_type = "application/json";
      page.body = targets_json(targets_.targets());
    } else if (path == Path{"metrics"}) {
      page.content_type = "text/plain; version=0.0.4; charset=utf-8";
      page.body = metrics();
    } else {
      return std::nullopt;
    }
    return page;
  }

  std::string metrics() {
    MetricsInput input = {.targets = targets_.targets(), .host = targets_.host()};
    if (top_stack_count_ > 0) input.top_stacks = top_stacks_.take(top_stack_count_);
    input.http = &server_.counts();
    input.http_connections = server_.connections();
    if (push_.is_on()) input.pushes = &push_.counts();
    return metrics_page(input);
  }

  std::shared_ptr<void> answer_profile(const HttpRequest& request, Answer answer) {
    Path path = request.path;
    std::optional<std::string> target;
    if (path.size() == 5 && path[0] == "targets") {
      target = path[1];
      path.erase(path.begin(), path.begin() + 2);
    } else if (const auto named = request.query.find("target"); named != request.query.end()) {
      target = named->second;
    }
    const bool is_heap = path == Path{"debug", "pprof", "heap"};
    if (!is_heap && path != Path{"debug", "pprof", "allocs"}) {
      answer(plain_response(404, "there is no such page: / lists all"));
      return nullptr;
    }
    const std::optional<unsigned> seconds = number_in(request, "seconds", kMaxProfilePeriod.count());
    const std::optional<unsigned> debug = number_in(request, "debug", 2);
    if (!seconds || !debug) {
      answer(plain_response(400, fmt::format("seconds is 0 to {}, debug is 0 or 1", kMaxProfilePeriod.count())));
      return nullptr;
    }
    if (!target) target = only_target();
    if (!target) {
      answer(plain_response(400, "which target? /targets lists them, ?target=NAME names one"));
      return nullptr;
    }
    const ProfileQuery query = {.target = *target,
                                .kind = is_heap ? ProfileKind::kHeap : ProfileKind::kAllocs,
                                .form = *debug == 0 ? ProfileForm::kPprof : ProfileForm::kText,
                                .period = std::chrono::seconds(*seconds)};
    return profiles_.answer(query, std::move(answer));
  }

  /// nullopt: there are several, or none.
  std::optional<std::string> only_target() const {
    std::vector<ServedTarget> targets = targets_.targets();
    if (targets.size() != 1) return std::nullopt;
    return std::move(targets.front().name);
  }

  ServedTargets& targets_;
  std::unique_ptr<BackgroundWork> work_;
  ProfileRequests profiles_;
  TopStackKeeper top_stacks_;
  Push push_;
  Access access_;
  std::size_t top_stack_count_ = 0;
  HttpServer server_;  ///< the last: its clients wait for the others
};

}  // namespace

Result<std::unique_ptr<Serving>> Serving::make(EventLoop& loop, const ServingOptions& options, ServedTargets& targets) {
  ServingPlan plan = HAWK_TRY(plan_serving(options));
  std::unique_ptr<BackgroundWork> work = HAWK_TRY(BackgroundWork::make(loop, kMaxWork));
  auto serving = std::make_unique<HttpServing>(loop, targets, std::move(work), plan.access);
  HAWK_TRY_VOID(serving->begin(std::move(plan)));
  return serving;
}

Result<void> check_serving_options(const ServingOptions& options) {
  HAWK_TRY_VOID(plan_serving(options));
  return {};
}

}  // namespace hawk

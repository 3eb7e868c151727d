#include "tests/unit/report/sample_snapshots.h"

#include <fmt/core.h>

#include <array>
#include <limits>
#include <string_view>

#include "userspace/tables/merged_snapshot.h"

namespace hawk {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

Sample sample(std::string comm, std::string exe) {
  Sample made;
  made.snapshot.target() = {4242, std::move(comm), std::move(exe), {}};
  made.snapshot.target().allocators.push_back({"/usr/lib/x86_64-linux-gnu/libc.so.6",
                                               "6196744a316dbd57c0fc8968df1680aac482cec4",
                                               {{"malloc", {}, 0x98e60, 0x98e64, "push", false},
                                                {"free", {"cfree"}, 0x99450, 0x99459, "push", false},
                                                {"calloc", {}, 0x99c70, 0x99c70, "mov", true}}});
  made.snapshot.trace.attach_via = "session";
  made.snapshot.trace.live_table = "arena";
  made.snapshot.trace.unwind = "auto";
  made.snapshot.trace.start_unix_ns = 1'790'000'000 * kSecondNs;
  made.snapshot.trace.duration_ns = 10 * kSecondNs;
  made.snapshot.trace.interval_ns = kSecondNs;
  made.snapshot.trace.kernel = "6.1.0-37-amd64";
  return made;
}

/// The frames between main and the kernel's entry.
void add_start(Sample& made, ModuleId libc, std::vector<Location>& frames) {
  frames.push_back(made.call(libc, {function("__libc_start_call_main")}));
}

void fill_service(Sample& made, std::uint64_t leaked_count) {
  const ModuleId exe = made.add_module("/opt/shop/bin/shop-server", "0badc0ffee0badc0ffee0badc0ffee0badc0ffee");
  const ModuleId libc =
      made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", "6196744a316dbd57c0fc8968df1680aac482cec4");
  const ModuleId libstdcxx = made.add_module("/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", "ab");
  made.symbolizer.set_source(libc, SymbolSource::kDynamicOnly);
  made.symbolizer.set_source(libstdcxx, SymbolSource::kDynamicOnly);
  const Location main = made.call(exe, {function("main", "/build/shop/src/main.cpp", 31)});
  const Location dispatch = made.call(
      exe, {inlined("shop::Router::route(shop::Request const&)", "/build/shop/src/http/router.h", 77),
            function("shop::Server::dispatch(shop::Request const&)", "/build/shop/src/http/server.cpp", 140)});
  const Location new_operator = made.call(libstdcxx, {function("operator new(unsigned long)")});
  std::vector<Location> leak = {
      new_operator,
      made.call(exe, {function("shop::SessionTable::open(shop::User const&)", "/build/shop/src/session.cpp", 58)}),
      dispatch, main};
  add_start(made, libc, leak);
  made.add_stack(7, {leaked_count * 1280, leaked_count, 0, 0}, leak);
  std::vector<Location> cache = {
      new_operator,
      made.call(
          exe,
          {inlined("std::__new_allocator<shop::Product>::allocate(unsigned long, void const*)",
                   "/usr/include/c++/12/bits/new_allocator.h", 137),
           inlined("std::vector<shop::Product>::reserve(unsigned long)", "/usr/include/c++/12/bits/vector.tcc", 79),
           function("shop::Cache::warm(std::vector<unsigned int> const&)", "/build/shop/src/cache.cpp", 22)}),
      made.call(exe, {function("std::function<void ()>::operator()() const", "/usr/include/c++/12/bits/std_function.h",
                               591)}),
      made.call(exe, {function("std::thread::_State_impl<shop::Warmer>::_M_run()")}),
      made.call(exe, {function("shop::Warmer::run()", "/build/shop/src/cache.cpp", 90)})};
  made.add_stack(3, {917504, 14, 131072, 2}, cache);
  std::vector<Location> churn = {
      made.call(libc, {function("strdup")}),
      made.call(exe, {function("parse_header(char const*)", "/build/shop/src/http/parse.c", 12)}), dispatch, main};
  add_start(made, libc, churn);
  made.add_stack(
      12,
      {10'240'000 + leaked_count * 64, 160'000 + leaked_count, 10'239'360 + leaked_count * 64, 159'990 + leaked_count},
      churn);
  std::vector<Location> done = {made.call(exe, {function("read_configuration()", "/build/shop/src/main.cpp", 12)}),
                                main};
  made.add_stack(1, {4096, 1, 4096, 1}, done);
}

}  // namespace

std::vector<SourceFrame> FakeSymbolizer::frames(ModuleId module, std::uint64_t module_offset) {
  ++lookups_;
  const auto found = known_.find({module, module_offset});
  return found == known_.end() ? std::vector<SourceFrame>{} : found->second;
}

std::vector<SourceFrame> FakeSymbolizer::frames_in_no_file(std::uint64_t address) {
  const auto found = in_no_file_.find(address);
  return found == in_no_file_.end() ? std::vector<SourceFrame>{} : std::vector<SourceFrame>{found->second};
}

SymbolSource FakeSymbolizer::source(ModuleId module) {
  const auto found = sources_.find(module);
  return found == sources_.end() ? SymbolSource::kDebugInfo : found->second;
}

void FakeSymbolizer::know(ModuleId module, std::uint64_t module_offset, std::vector<SourceFrame> frames) {
  known_[{module, module_offset}] = std::move(frames);
}

ModuleId Sample::add_module(std::string path, std::string build_id) {
  snapshot.modules.push_back({std::move(path), std::move(build_id)});
  return static_cast<ModuleId>(snapshot.modules.size() - 1);
}

Location Sample::call(ModuleId module, std::vector<SourceFrame> sources) {
  const std::uint64_t offset = next_offset_;
  next_offset_ += 0x10;
  if (!sources.empty()) symbolizer.know(module, offset, std::move(sources));
  return {0x7f0000000000 + (static_cast<std::uint64_t>(module) << 24) + offset, module, offset};
}

Location Sample::call_in_no_file(SourceFrame source) {
  const std::uint64_t address = 0x7e0000000000 + next_offset_;
  next_offset_ += 0x10;
  symbolizer.know_in_no_file(address, std::move(source));
  return {address, std::nullopt, 0};
}

StackRecord& Sample::add_stack(std::uint32_t id, const Counters& counters, const std::vector<Location>& frames) {
  std::vector<LocationId> locations;
  for (const Location& frame : frames) locations.push_back(locations_.number_of(frame));
  snapshot.locations = locations_.locations();
  const auto behind = std::upper_bound(snapshot.stacks.begin(), snapshot.stacks.end(), StackId{id},
                                       [](StackId a, const StackRecord& b) { return a < b.id; });
  const auto added = snapshot.stacks.insert(
      behind, {.id = StackId{id}, .counters = counters, .frames = StackFrames(std::move(locations))});
  snapshot.totals += counters;
  snapshot.peak_live_bytes = std::max(snapshot.peak_live_bytes, snapshot.totals.live_bytes());
  return *added;
}

StackRecord& Sample::stack(std::uint32_t id) {
  return *std::find_if(snapshot.stacks.begin(), snapshot.stacks.end(),
                       [id](const StackRecord& stack) { return stack.id == StackId{id}; });
}

SourceFrame function(std::string name, std::string file, std::uint32_t line) {
  return {std::move(name), std::move(file), line, false};
}

SourceFrame inlined(std::string name, std::string file, std::uint32_t line) {
  return {std::move(name), std::move(file), line, true};
}

FrameRole sample_role_of(const std::string& name) {
  if (name.starts_with("operator new") || name == "xmalloc") return FrameRole::kAllocator;
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::") ? FrameRole::kLibrary : FrameRole::kProgram;
}

Sample empty_sample() {
  Sample made = sample("idle", "/usr/bin/idle");
  made.snapshot.trace.duration_ns = 750'000'000;
  made.snapshot.frees_of_untraced = 3;
  return made;
}

Sample service_sample() {
  Sample made = sample("shop-server", "/opt/shop/bin/shop-server");
  std::vector<ProbedFunction>& probed = made.snapshot.target().allocators[0].functions;
  probed[0].cost_ns = 1127;
  probed[1].cost_ns = 683;
  probed[0].points = {
      {.file_offset = probed[0].file_offset + 0x157, .conditional = true, .cost_ns = 664, .calls = 12'345},
      {.file_offset = probed[0].file_offset + 0x1f0, .single_stepped = true, .cost_ns = 9'500, .calls = 77},
      {.shows = PointShows::kReturnProbe, .file_offset = probed[0].file_offset + 0x200, .cost_ns = 1'127}};
  fill_service(made, 1000);
  made.snapshot.peak_live_bytes = 2'200'000;
  made.snapshot.memory = ProcessMemory{
      .resident_bytes = 31'457'280, .anonymous_bytes = 12'582'912, .swapped_bytes = 0, .live_bytes = 2'067'072};
  made.snapshot.frees_of_untraced = 1234;
  made.snapshot.trace.verified = true;
  return made;
}

Sample later_service_sample() {
  Sample made = sample("shop-server", "/opt/shop/bin/shop-server");
  fill_service(made, 1250);
  made.snapshot.trace.duration_ns = 12 * kSecondNs;
  const Location report = made.call(
      ModuleId{0}, {function("shop::Report::render(shop::Report::Format) const", "/build/shop/src/report.cpp", 5)});
  made.add_stack(20, {65536, 1, 0, 0}, {report});
  made.snapshot.peak_live_bytes = 2'600'000;
  made.snapshot.frees_of_untraced = 1300;
  return made;
}

Sample several_sample() {
  Sample made = service_sample();
  Sample second = sample("shop-server", "/opt/shop/bin/shop-server");
  fill_service(second, 30);
  Sample third = sample("shop-mailer", "/opt/shop/bin/shop-mailer");
  fill_service(third, 5);
  third.snapshot.losses[HAWK_LOSS_LIVE_TABLE_FULL] = 12;
  third.snapshot.losses[HAWK_LOSS_ABANDONED_CALL] = 3;
  third.snapshot.losses[HAWK_LOSS_UNTRACED_CHILD] = 1;
  third.snapshot.children = {.without_exec = 0, .programs = {{"sendmail", 1}}};
  third.snapshot.trace.target_exited = true;
  third.snapshot.trace.start_unix_ns += 2 * kSecondNs;
  int pid = 4711;
  for (Sample* one : {&made, &second, &third}) {
    one->snapshot.target().pid = pid++;
    one->snapshot.target().cgroup = "/system.slice/shop.service";
  }
  const Snapshot first = made.snapshot;
  made.snapshot = *SnapshotMerger().merge({&first, &second.snapshot, &third.snapshot}, 2'300'000);
  return made;
}

Sample unsymbolized_sample() {
  Sample made = sample("player", "/usr/bin/player");
  const ModuleId exe = made.add_module("/usr/bin/player", "");
  const ModuleId codec = made.add_module("/usr/lib/libcodec.so.3", "c0dec0dec0dec0dec0dec0dec0dec0dec0dec0de");
  const ModuleId gpu = made.add_module("/usr/lib/libgpu.so.1", "");
  made.symbolizer.set_source(codec, SymbolSource::kNone);
  made.symbolizer.set_source(gpu, SymbolSource::kDynamicOnly);
  const Location main = made.call(exe, {function("main")});
  const Location jit{0x7fffdeadbeef, std::nullopt, 0};
  made.add_stack(1, {600'000, 100, 0, 0}, {made.call(codec, {}), made.call(codec, {}), main});
  made.add_stack(2, {300'000, 10, 100'000, 5}, {made.call(gpu, {}), made.call(gpu, {function("gpu_submit")}), main});
  made.add_stack(3, {100'000, 1, 0, 0}, {jit, main});
  made.add_stack(4, {50'000, 1, 0, 0}, {made.call(exe, {function("open_file")}), made.call(codec, {}), main});
  return made;
}

Sample lossy_sample() {
  Sample made = sample("worker", "/srv/worker");
  made.snapshot.trace.unwind = "fp";
  made.snapshot.trace.target_exited = true;
  made.snapshot.memory =
      ProcessMemory{.resident_bytes = 12'288, .anonymous_bytes = 4096, .swapped_bytes = 8192, .live_bytes = 13'000};
  made.snapshot.trace.exec_count = 2;
  made.snapshot.trace.verified = false;
  const ModuleId exe = made.add_module("/srv/worker", "aabbcc");
  const Location recurse = made.call(exe, {function("walk(Node*)", "tree.cpp", 10)});
  made.add_stack(0, {5000, 50, 1000, 10}, {});
  made.add_stack(9, {9000, 3, 0, 0}, {made.call(exe, {function("leaf(Node*)", "tree.cpp")}), recurse, recurse}).end =
      HAWK_END_DEPTH;
  made.snapshot.stacks.back().guessed = true;
  made.snapshot.losses[HAWK_LOSS_LIVE_TABLE_FULL] = 1'200'000;
  made.snapshot.losses[HAWK_LOSS_STACK_TABLE_FULL] = 50;
  made.snapshot.losses[HAWK_LOSS_TRUNCATED_STACK] = 1;
  made.snapshot.losses[HAWK_LOSS_ABANDONED_CALL] = 7;
  made.snapshot.losses[HAWK_LOSS_UNTRACED_CHILD] = 5;
  made.snapshot.children = {.without_exec = 1, .programs = {{"sh", 3}, {"con\x1b[2Jvert", 1}}};
  return made;
}

Sample deep_sample() {
  Sample made = sample("solver", "/usr/bin/solver");
  const ModuleId exe = made.add_module("/usr/bin/solver", "aabbcc");
  std::vector<SourceFrame> layers;
  for (int layer = 1; layer <= 6; ++layer)
    layers.push_back(inlined(fmt::format("layer{}<double>(Matrix const&)", layer), "/src/solver/kernel.h", 10 * layer));
  layers.push_back(function("solve(Matrix const&)", "/src/solver/solve.cpp", 99));
  std::vector<Location> frames = {made.call(exe, layers)};
  const Location descend = made.call(exe, {function("descend(Tree&, int)", "/src/solver/tree.cpp", 7)});
  for (int depth = 0; depth < 40; ++depth) frames.push_back(descend);
  frames.push_back(made.call(exe, {function("std::__invoke_impl<int>()")}));
  frames.push_back(made.call(exe, {function("main", "/src/solver/main.cpp", 3)}));
  made.add_stack(1, {123'456, 12, 0, 0}, frames);
  made.add_stack(2, {64, 1, 0, 0},
                 {made.call(exe,
                            {
                                function("std::string::_M_create(unsigned long&, unsigned long)"),
                            }),
                  made.call(exe, {function("std::locale::locale()")})});
  return made;
}

Sample hostile_sample() {
  Sample made = sample("e\x1b[2Jvil\n", "/tmp/\xff\xfe/名前");
  const ModuleId exe = made.add_module("/tmp/\xff\xfe/名前", "zz");
  made.symbolizer.set_source(exe, SymbolSource::kNone);
  made.add_stack(1, {1000, 1, 0, 0},
                 {made.call(exe, {function("caf\xc3\xa9::\xe6\x97\xa5\xe6\x9c\xac()",
                                           "/src/\xc3/\xe2\x80\xae"
                                           "gpj.c",
                                           1)}),
                  made.call(exe, {function("tab\there\x9b"
                                           "31m")}),
                  made.call(exe, {})});
  return made;
}

Sample huge_sample() {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  Sample made = sample("huge", "/usr/bin/huge");
  made.snapshot.trace.duration_ns = 400'000 * kSecondNs;
  const ModuleId exe = made.add_module("/usr/bin/huge", "aabbcc");
  const Location main = made.call(exe, {function("main", "main.c", kMax & 0xffffffff)});
  made.add_stack(1, {kMax - 1, 1, 0, 0}, {main});
  made.add_stack(0xffffffff, {1, kMax - 1, 0, 0}, {{kMax, std::nullopt, 0}, main});
  made.snapshot.frees_of_untraced = kMax;
  return made;
}

Sample unwinding_sample() {
  Sample made = sample("script", "/usr/bin/script");
  const ModuleId exe = made.add_module("/usr/bin/script", "aabbcc");
  const ModuleId libc = made.add_module("/usr/lib/x86_64-linux-gnu/libc.so.6", "6196744a");
  const ModuleId old = made.add_module("/opt/vendor/lib/libvendor-codec.so.3", "0ddba11");
  const ModuleId crypto = made.add_module("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "c0ffee");
  made.snapshot.unwind.modules_without_table = {old};
  made.snapshot.unwind.unsupported_rules = {{crypto, "CFA by an expression", 412}, {crypto, "CFA from rbx", 7}};
  made.snapshot.unwind.cache_misses = 1234;
  const Location main = made.call(exe, {function("main", "/src/script/main.c", 12)});
  const Location evaluate = made.call(exe, {function("evaluate(Node*)", "/src/script/evaluate.cpp", 300)});
  const Location jit{0x7fffdeadbeef, std::nullopt, 0};
  made.add_stack(4, {700'000, 70, 0, 0}, {evaluate, evaluate, main});
  made.add_stack(5, {150'000, 15, 0, 0}, {made.call(old, {function("vc_open")}), main}).guessed = true;
  StackRecord& jitted = made.add_stack(6, {80'000, 8, 0, 0}, {evaluate, jit, evaluate, main});
  jitted.guessed = true;
  jitted.end = HAWK_END_NULL_RETURN;
  made.add_stack(7, {60'000, 6, 0, 0}, {made.call(crypto, {function("sha256_init")}), made.call(crypto, {})}).end =
      HAWK_END_UNSUPPORTED;
  Location interrupted = made.call(exe, {inlined("Node::next() const", "/src/script/node.h", 8)});
  made.symbolizer.know(
      exe, interrupted.symbol_offset() + 1,
      {inlined("Node::next() const", "/src/script/node.h", 9), function("collect(Heap&)", "/src/script/heap.cpp", 77)});
  interrupted.interrupted = true;
  made.add_stack(
      8, {9'000, 9, 0, 0},
      {made.call(exe, {function("on_alarm(int)", "/src/script/main.c", 99)}), made.call(libc, {}), interrupted, main});
  made.add_stack(9, {600, 6, 0, 0}, {evaluate, main}).end = HAWK_END_CHANGING;
  made.add_stack(10, {400, 4, 0, 0}, {evaluate, evaluate, evaluate}).end = HAWK_END_DEPTH;
  made.snapshot.losses[HAWK_LOSS_TRUNCATED_STACK] = 1;
  return made;
}

}  // namespace hawk

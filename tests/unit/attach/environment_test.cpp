#include "userspace/attach/environment.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hawk {
namespace {

constexpr std::uint64_t bit(int capability) { return std::uint64_t{1} << capability; }

std::string status_with(std::string_view mask) {
  return "Name:\thawktrace\nCapPrm:\t000001ffffffffff\nCapEff:\t" + std::string(mask) + "\nCapBnd:\t0000000000000000\n";
}

TEST(ReturnsAreSystemCalls, FromLinux611On) {
  EXPECT_FALSE(returns_are_system_calls("6.1.0-28-amd64"));
  EXPECT_FALSE(returns_are_system_calls("6.10.9"));
  EXPECT_TRUE(returns_are_system_calls("6.11.0"));
  EXPECT_TRUE(returns_are_system_calls("7.2.13"));
}

TEST(KernelVersion, ReadsWhatDistributionsPrint) {
  EXPECT_EQ(parse_kernel_version("6.1.0-28-amd64").value(), (KernelVersion{6, 1}));
  EXPECT_EQ(parse_kernel_version("5.15.167.4-microsoft-standard-WSL2").value(), (KernelVersion{5, 15}));
  EXPECT_EQ(parse_kernel_version("7.0-rc1").value(), (KernelVersion{7, 0}));
  EXPECT_EQ(parse_kernel_version("6.12").value(), (KernelVersion{6, 12}));
}

TEST(KernelVersion, RefusesWhatIsNoVersion) {
  for (const char* release : {"", "6", "6.", "x.1", ".6.1", "-6.1"}) {
    const Result<KernelVersion> version = parse_kernel_version(release);
    ASSERT_FALSE(version) << release;
    EXPECT_EQ(version.error().exit_code, ExitCode::kPrivilege);
    EXPECT_EQ(version.error().what, "read the kernel's version: '" + std::string(release) + "' is not a version");
  }
}

TEST(KernelVersion, ComparesMinorNumbersAsNumbers) {
  EXPECT_TRUE(check_kernel_version("6.1.0"));
  EXPECT_TRUE(check_kernel_version("6.10.3"));
  EXPECT_TRUE(check_kernel_version("7.0.0"));
  EXPECT_FALSE(check_kernel_version("6.0.19"));
  EXPECT_FALSE(check_kernel_version("5.15.0"));
}

TEST(CheckSeccomp, RefusesOnlyFilteredProcessesOnKernelsWhoseReturnProbesEndThem) {
  for (const char* release : {"6.11.0-9-generic", "6.11.11", "6.12.0", "6.12.13-amd64", "6.13", "6.13.2"}) {
    EXPECT_TRUE(check_seccomp(release, 0)) << release;
    const Result<void> refused = check_seccomp(release, 2);
    ASSERT_FALSE(refused) << release;
    EXPECT_EQ(refused.error().exit_code, ExitCode::kPrivilege);
    EXPECT_FALSE(refused.error().hint.empty());
  }
  for (const char* release :
       {"6.1.0-28-amd64", "6.10.14", "6.12.14", "6.12.95+deb12-amd64", "6.13.3", "6.14", "7.0-rc1"}) {
    EXPECT_TRUE(check_seccomp(release, 2)) << release;
  }
}

TEST(KernelVersion, SaysWhichKernelIsTooOldAndWhichIsNeeded) {
  const Result<void> checked = check_kernel_version("5.10.0-33-amd64");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().exit_code, ExitCode::kPrivilege);
  EXPECT_EQ(checked.error().what, "trace on Linux 5.10.0-33-amd64: the kernel is too old");
  EXPECT_EQ(checked.error().hint, "hawktrace needs Linux 6.1 or newer");
}

TEST(Capabilities, AreReadFromTheEffectiveSet) {
  EXPECT_EQ(parse_effective_capabilities(status_with("000001ffffffffff")).value(), 0x1ffffffffffU);
  EXPECT_EQ(parse_effective_capabilities("CapEff:\t0000000000000000").value(), 0U);
  EXPECT_EQ(parse_effective_capabilities("CapEff:\tffffffffffffffff\n").value(), ~std::uint64_t{0});
}

TEST(Capabilities, MalformedStatusIsAnError) {
  EXPECT_FALSE(parse_effective_capabilities(""));
  EXPECT_FALSE(parse_effective_capabilities("CapPrm:\t000001ffffffffff\n"));
  EXPECT_FALSE(parse_effective_capabilities("xCapEff:\t000001ffffffffff\n"));
  EXPECT_FALSE(parse_effective_capabilities(status_with("")));
  EXPECT_FALSE(parse_effective_capabilities(status_with("12g4")));
  EXPECT_FALSE(parse_effective_capabilities(status_with("10000000000000000")));
}

TEST(Capabilities, NamesThoseThatAreMissing) {
  EXPECT_EQ(missing_capabilities(0),
            (std::vector<std::string>{"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_CHECKPOINT_RESTORE"}));
  EXPECT_EQ(missing_capabilities(bit(CAP_BPF)),
            (std::vector<std::string>{"CAP_PERFMON", "CAP_SYS_PTRACE", "CAP_CHECKPOINT_RESTORE"}));
  EXPECT_EQ(missing_capabilities(~bit(CAP_SYS_PTRACE)), (std::vector<std::string>{"CAP_SYS_PTRACE"}));
  EXPECT_TRUE(missing_capabilities(bit(CAP_BPF) | bit(CAP_PERFMON) | bit(CAP_SYS_PTRACE) | bit(CAP_CHECKPOINT_RESTORE))
                  .empty());
}

TEST(Capabilities, AdminStandsForBpfAndPerfmonButNotForPtrace) {
  EXPECT_EQ(missing_capabilities(bit(CAP_SYS_ADMIN)), (std::vector<std::string>{"CAP_SYS_PTRACE"}));
  EXPECT_TRUE(missing_capabilities(bit(CAP_SYS_ADMIN) | bit(CAP_SYS_PTRACE)).empty());
}

TEST(Capabilities, OrdinaryUserIsToldToUseSudo) {
  const Result<void> checked = check_capabilities(status_with("0000000000000000"), false);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().exit_code, ExitCode::kPrivilege);
  EXPECT_EQ(
      checked.error().what,
      "trace other processes: not permitted without CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE");
  EXPECT_EQ(checked.error().hint, "run it with sudo");
}

TEST(Capabilities, RootInAContainerIsNotToldToUseSudo) {
  const Result<void> checked = check_capabilities(status_with("00000000a80425fb"), true);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().hint.find("sudo"), std::string::npos);
  EXPECT_NE(checked.error().hint.find("--cap-add"), std::string::npos);
}

TEST(BpfFailure, TellsKernelWithoutBpfFromForbiddenOne) {
  const Error absent = bpf_failure(ENOSYS);
  EXPECT_EQ(absent.exit_code, ExitCode::kPrivilege);
  EXPECT_EQ(absent.what, "call bpf(2): Function not implemented");
  EXPECT_EQ(absent.hint, "hawktrace needs a kernel built with CONFIG_BPF_SYSCALL=y");
  const Error forbidden = bpf_failure(EPERM);
  EXPECT_EQ(forbidden.what, "call bpf(2): Operation not permitted");
  EXPECT_NE(forbidden.hint.find("user namespace"), std::string::npos);
}

TEST(CheckEnvironment, RefusesAnOrdinaryUser) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(1);
    const Result<void> checked = check_environment();
    if (checked || checked.error().exit_code != ExitCode::kPrivilege) ::_exit(2);
    ::_exit(checked.error().hint == "run it with sudo" ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace hawk

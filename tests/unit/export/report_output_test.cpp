#include "userspace/export/report_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/file_content.h"

namespace hawk {
namespace {

namespace fs = std::filesystem;

/// Sends what goes to descriptor 1 elsewhere for as long as it lives.
class RedirectedStdout {
 public:
  explicit RedirectedStdout(int fd) : saved_(::dup(STDOUT_FILENO)) { ::dup2(fd, STDOUT_FILENO); }
  RedirectedStdout(const RedirectedStdout&) = delete;
  RedirectedStdout& operator=(const RedirectedStdout&) = delete;
  ~RedirectedStdout() { ::dup2(saved_.get(), STDOUT_FILENO); }

 private:
  UniqueFd saved_;
};

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

class Output : public testing::Test {
 protected:
  Output() {
    std::string pattern = (fs::temp_directory_path() / "hawk_output.XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    previous_sigpipe_ = ::signal(SIGPIPE, SIG_IGN);
  }
  ~Output() override {
    ::signal(SIGPIPE, previous_sigpipe_);
    fs::remove_all(directory_);
  }

  fs::path file(const char* name) const { return directory_ / name; }
  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  /// "WHAT / HINT" of a destination that must be refused before the trace.
  static std::string refusal_of(const fs::path& path) {
    const Result<ReportOutput> output = ReportOutput::make(path.string());
    if (output) return "no error";
    EXPECT_EQ(output.error().exit_code, ExitCode::kFile);
    return output.error().what + " / " + output.error().hint;
  }

  fs::path directory_;

 private:
  void (*previous_sigpipe_)(int) = SIG_DFL;
};

TEST_F(Output, NewFileHoldsTheReport) {
  const mode_t mask = ::umask(022);
  Result<ReportOutput> output = ReportOutput::make(file("report").string());
  ASSERT_TRUE(output);
  EXPECT_FALSE(output->is_stdout());
  EXPECT_FALSE(output->is_terminal());
  ASSERT_TRUE(output->write("all of it\n"));
  ::umask(mask);
  EXPECT_EQ(content_of(file("report")), "all of it\n");
  EXPECT_EQ(fs::status(file("report")).permissions(), fs::perms(0644));
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(Output, FileIsUntouchedUntilTheReportComes) {
  write_file(file("report"), "old");
  Result<ReportOutput> output = ReportOutput::make(file("report").string());
  ASSERT_TRUE(output);
  EXPECT_EQ(content_of(file("report")), "old");
  ASSERT_TRUE(output->write("new"));
  EXPECT_EQ(content_of(file("report")), "new");
}

TEST_F(Output, WithoutReportAnOldFileStaysAndANewOneGoes) {
  write_file(file("old"), "old");
  {
    const Result<ReportOutput> old_output = ReportOutput::make(file("old").string());
    const Result<ReportOutput> new_output = ReportOutput::make(file("new").string());
    ASSERT_TRUE(old_output && new_output);
    EXPECT_TRUE(fs::exists(file("new")));
  }
  EXPECT_EQ(content_of(file("old")), "old");
  EXPECT_FALSE(fs::exists(file("new")));
}

TEST_F(Output, ReplacedFileKeepsModeOwnerAndTheLinkToIt) {
  write_file(file("report"), "old");
  ASSERT_EQ(::chmod(file("report").c_str(), 0640), 0);
  ASSERT_EQ(::chown(file("report").c_str(), ::geteuid() == 0 ? 1234 : ::geteuid(), ::getegid()), 0);
  fs::create_symlink("report", file("link"));
  struct stat before = {};
  ASSERT_EQ(::stat(file("report").c_str(), &before), 0);
  Result<ReportOutput> output = ReportOutput::make(file("link").string());
  ASSERT_TRUE(output);
  ASSERT_TRUE(output->write("new"));
  struct stat after = {};
  ASSERT_EQ(::stat(file("report").c_str(), &after), 0);
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_NE(after.st_ino, before.st_ino) << "was not replaced by a rename";
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(content_of(file("report")), "new");
}

TEST_F(Output, RelativePathIsOneOfTheCurrentDirectory) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_);
  Result<ReportOutput> output = ReportOutput::make("report");
  ASSERT_TRUE(output);
  // A change of the directory during the trace does not change where the report goes.
  fs::current_path("/");
  EXPECT_TRUE(output->write("here"));
  fs::current_path(before);
  EXPECT_EQ(content_of(file("report")), "here");
}

TEST_F(Output, DestinationsThatCannotBeWrittenAreRefusedAtOnce) {
  write_file(file("plain"), "");
  const std::string directory = directory_.string();
  EXPECT_EQ(refusal_of(file("missing") / "report"), "open for writing " + directory +
                                                        "/missing/report: No such file or directory / create the "
                                                        "directory first: mkdir -p " +
                                                        directory + "/missing");
  EXPECT_EQ(refusal_of(file("plain") / "report"),
            "open for writing " + directory + "/plain/report: Not a directory / choose another path with -o");
  EXPECT_EQ(refusal_of(directory_),
            "open for writing " + directory + ": Is a directory / name a file in that directory");
}

TEST_F(Output, FifoWithoutReaderIsRefusedInsteadOfWaitedFor) {
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  const std::string path = file("fifo").string();
  EXPECT_EQ(refusal_of(path), "open for writing " + path +
                                  ": No such device or address / start the reader of the pipe first: cat " + path +
                                  " &");
}

TEST_F(Output, FifoIsWrittenDirectly) {
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  const UniqueFd reader(::open(file("fifo").c_str(), O_RDONLY | O_NONBLOCK));
  Result<ReportOutput> output = ReportOutput::make(file("fifo").string());
  ASSERT_TRUE(output);
  ASSERT_TRUE(output->write("through"));
  char bytes[16] = {};
  EXPECT_EQ(::read(reader.get(), bytes, sizeof(bytes)), 7);
  EXPECT_STREQ(bytes, "through");
  EXPECT_TRUE(fs::is_fifo(file("fifo")));
}

TEST_F(Output, FifoWhoseReaderLeftIsAnError) {
  ASSERT_EQ(::mkfifo(file("fifo").c_str(), 0600), 0);
  UniqueFd reader(::open(file("fifo").c_str(), O_RDONLY | O_NONBLOCK));
  Result<ReportOutput> output = ReportOutput::make(file("fifo").string());
  ASSERT_TRUE(output);
  reader.reset();
  const Result<void> written = output->write("lost");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what, "write the report to " + file("fifo").string() + ": Broken pipe");
}

TEST_F(Output, FullDeviceIsAnError) {
  Result<ReportOutput> output = ReportOutput::make("/dev/full");
  ASSERT_TRUE(output);
  const Result<void> written = output->write("x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().exit_code, ExitCode::kFile);
  EXPECT_EQ(written.error().what, "write the report to /dev/full: No space left on device");
  EXPECT_EQ(written.error().hint, "free some space, or choose another path with -o");
  EXPECT_TRUE(fs::exists("/dev/full"));
}

/// In a child, because only root can raise the limit again: writes a report that is too large. 0 when that
/// was refused as it should be.
int write_beyond_size_limit(const std::string& path) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{4096, 4096};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  Result<ReportOutput> output = ReportOutput::make(path);
  if (!output) return 3;
  const Result<void> written = output->write(std::string(10000, 'x'));
  return !written && written.error().what == "write the report to " + path + ": File too large" ? 0 : 4;
}

TEST_F(Output, FailureInTheMiddleLeavesTheOldReportAndNothingElse) {
  write_file(file("report"), "old");
  for (const char* name : {"report", "new"}) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(write_beyond_size_limit(file(name).string()));
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << name;
  }
  EXPECT_EQ(content_of(file("report")), "old");
  EXPECT_EQ(file_count(), 1U) << "a temporary or half-written file was left behind";
}

TEST_F(Output, ReportMayComeInPieces) {
  write_file(file("report"), "old");
  Result<ReportOutput> output = ReportOutput::make(file("report").string());
  ASSERT_TRUE(output);
  ASSERT_TRUE(output->write([&](const TextSink& sink) {
    EXPECT_EQ(file_count(), 1U) << "nothing is created while the report is not begun";
    EXPECT_TRUE(sink("one, "));
    EXPECT_EQ(file_count(), 2U);
    EXPECT_EQ(content_of(file("report")), "old") << "half a report shows nowhere";
    EXPECT_TRUE(sink("two"));
  }));
  EXPECT_EQ(content_of(file("report")), "one, two");
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(Output, ProducerIsToldThatNoMoreIsWanted) {
  Pipe pipe = make_pipe();
  pipe.reader.reset();
  const RedirectedStdout redirected(pipe.writer.get());
  Result<ReportOutput> output = ReportOutput::make(std::nullopt);
  ASSERT_TRUE(output);
  bool wanted = true;
  EXPECT_TRUE(output->write([&](const TextSink& sink) { wanted = sink("this is not read"); }));
  EXPECT_FALSE(wanted);
}

TEST_F(Output, StdoutIsTheDefaultAndTheDash) {
  for (const std::optional<std::string>& path : {std::optional<std::string>(), std::optional<std::string>("-")}) {
    const Pipe pipe = make_pipe();
    {
      const RedirectedStdout redirected(pipe.writer.get());
      Result<ReportOutput> output = ReportOutput::make(path);
      ASSERT_TRUE(output);
      EXPECT_TRUE(output->is_stdout());
      EXPECT_FALSE(output->is_terminal());
      EXPECT_TRUE(output->write("report"));
    }
    char bytes[16] = {};
    EXPECT_EQ(::read(pipe.reader.get(), bytes, sizeof(bytes)), 6);
    EXPECT_STREQ(bytes, "report");
  }
}

TEST_F(Output, ReaderOfStdoutThatLeftIsNoFailure) {
  Pipe pipe = make_pipe();
  pipe.reader.reset();
  const RedirectedStdout redirected(pipe.writer.get());
  Result<ReportOutput> output = ReportOutput::make(std::nullopt);
  ASSERT_TRUE(output);
  EXPECT_TRUE(output->write("this is not read"));
}

TEST_F(Output, FullStdoutIsAnError) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const RedirectedStdout redirected(full.get());
  Result<ReportOutput> output = ReportOutput::make(std::nullopt);
  ASSERT_TRUE(output);
  const Result<void> written = output->write("x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what, "write the report to stdout: No space left on device");
}

TEST_F(Output, StdoutThatIsNotWritableIsRefused) {
  const UniqueFd read_only(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const RedirectedStdout redirected(read_only.get());
  const Result<ReportOutput> output = ReportOutput::make(std::nullopt);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().exit_code, ExitCode::kFile);
  EXPECT_EQ(output.error().what, "write to stdout: Bad file descriptor");
}

TEST_F(Output, DevStdoutThatIsAFileIsWrittenWhereStdoutStands) {
  const UniqueFd log(::open(file("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(log.get(), "before ", 7), 7);
  {
    const RedirectedStdout redirected(log.get());
    Result<ReportOutput> output = ReportOutput::make("/dev/stdout");
    ASSERT_TRUE(output);
    EXPECT_TRUE(output->is_stdout());
    EXPECT_TRUE(output->write("report"));
  }
  ASSERT_EQ(::write(log.get(), " after", 6), 6);
  EXPECT_EQ(content_of(file("log")), "before report after");
}

TEST_F(Output, DescriptorOfAFileIsAppendedToAndNotRenamedOver) {
  const UniqueFd log(::open(file("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::write(log.get(), "before ", 7), 7);
  Result<ReportOutput> output = ReportOutput::make("/dev/fd/" + std::to_string(log.get()));
  ASSERT_TRUE(output);
  EXPECT_FALSE(output->is_stdout());
  ASSERT_TRUE(output->write("report"));
  struct stat open_file = {};
  struct stat there = {};
  ASSERT_EQ(::fstat(log.get(), &open_file), 0);
  ASSERT_EQ(::stat(file("log").c_str(), &there), 0);
  EXPECT_EQ(open_file.st_ino, there.st_ino);
  EXPECT_EQ(content_of(file("log")), "before report");
}

TEST_F(Output, LargeReportThroughASlowPipeArrivesWhole) {
  Pipe pipe = make_pipe();
  ASSERT_EQ(::fcntl(pipe.writer.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string report(1 << 20, 'r');
  const pid_t child = ::fork();
  if (child == 0) {
    pipe.reader.reset();
    ::dup2(pipe.writer.get(), STDOUT_FILENO);
    Result<ReportOutput> output = ReportOutput::make(std::nullopt);
    ::_exit(output && output->write(report) ? 0 : 1);
  }
  pipe.writer.reset();
  std::string got;
  char bytes[65536];
  for (ssize_t count = 0; (count = ::read(pipe.reader.get(), bytes, sizeof(bytes))) > 0;) {
    got.append(bytes, static_cast<std::size_t>(count));
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(got == report);
}

}  // namespace
}  // namespace hawk

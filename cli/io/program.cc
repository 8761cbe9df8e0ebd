// SPDX-License-Identifier: Apache-2.0
#include "io/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "error.h"

extern char** environ;

namespace taproot::cli {
namespace {

volatile std::sig_atomic_t caught_signal = 0;

extern "C" void remember_signal(int signal) { caught_signal = signal; }

// While one exists, a signal that would end the process is only remembered.
class SignalsRemembered {
 public:
  SignalsRemembered() {
    caught_signal = 0;
    for (Entry& entry : entries_) {
      if (sigaction(entry.signal, nullptr, &entry.old) != 0 || entry.old.sa_handler == SIG_IGN) {
        continue;
      }
      struct sigaction action {};
      action.sa_handler = remember_signal;
      sigemptyset(&action.sa_mask);
      entry.replaced = sigaction(entry.signal, &action, nullptr) == 0;
    }
  }
  ~SignalsRemembered() { restore(); }
  SignalsRemembered(const SignalsRemembered&) = delete;
  SignalsRemembered& operator=(const SignalsRemembered&) = delete;

  void restore() {
    for (Entry& entry : entries_) {
      if (std::exchange(entry.replaced, false)) sigaction(entry.signal, &entry.old, nullptr);
    }
  }

 private:
  struct Entry {
    int signal;
    struct sigaction old {};
    bool replaced = false;
  };
  std::array<Entry, 3> entries_{{{SIGINT}, {SIGTERM}, {SIGHUP}}};
};

// Starts the program in a process group of its own, so that its children can be killed with it.
pid_t start(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = -1;
  const int error = posix_spawn(&child, pointers[0], &files, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) fail("{} cannot be started: {}", arguments[0], std::strerror(error));
  return child;
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& path) : path_(path) {
  if (!path_.empty()) {
    if (mkdir(path_.c_str(), 0700) == 0) return;
  } else {
    path_ = (std::filesystem::temp_directory_path() / "taproot-XXXXXX").string();
    if (mkdtemp(path_.data()) != nullptr) return;
  }
  fail("the temporary folder {} cannot be made: {}", path_, std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() { remove(); }

void TemporaryFolder::remove() const {
  std::error_code ignored;  // What cannot be removed is not worth an error.
  std::filesystem::remove_all(path_, ignored);
}

std::optional<std::string> find_program(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  const std::string_view folders = variable == nullptr ? "" : variable;
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string path = fmt::format("{}/{}", folders.substr(begin, end - begin), name);
    struct stat status {};
    // An empty entry would mean the current folder, from which nothing is run.
    if (end > begin && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        access(path.c_str(), X_OK) == 0) {
      return path;
    }
    begin = end + 1;
  }
  return std::nullopt;
}

bool run_in_folder(const std::vector<std::string>& arguments, const TemporaryFolder& folder,
                   const std::string& log, int seconds) {
  SignalsRemembered signals;
  const pid_t child = start(arguments, log);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  bool killed = false;
  for (;;) {
    const pid_t ended = waitpid(child, &status, killed ? 0 : WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    if (!killed && (caught_signal != 0 || std::chrono::steady_clock::now() > end)) {
      kill(-child, SIGKILL);
      killed = true;
    }
    if (!killed) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (const int signal = caught_signal; signal != 0) {
    folder.remove();
    signals.restore();
    raise(signal);
  }
  return !killed && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace taproot::cli

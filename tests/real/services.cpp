#include "tests/real/services.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace hawk {

std::string run(const std::vector<std::string>& words) {
  ChildProcess program({.argv = words});
  std::string output = program.read_to_end();
  EXPECT_EQ(program.wait(), 0) << words[0] << ": " << program.errors();
  return output;
}

void wait_for(ChildProcess& program, const std::string& words) {
  while (program.read_line().find(words) == std::string::npos) {
  }
}

void wait_for_redis(ChildProcess& server) { wait_for(server, "ready to accept connections"); }

void write_nginx_configuration(const ScratchDirectory& directory, const std::string& processes, const std::string& http,
                               const std::string& server) {
  std::ofstream configuration(directory.path("configuration"));
  configuration << "daemon off; " << processes << " error_log /proc/self/fd/1 notice; pid " << directory.path("pid")
                << ";\nevents { worker_connections 64; }\nhttp { access_log off; " << http << "\n";
  for (const std::string kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
    configuration << kind << "_temp_path " << directory.path(kind) << ";\n";
  configuration << "server { listen unix:" << directory.path("socket") << "; root " << directory.path("") << "; "
                << server << " } }\n";
}

std::string postgres_programs() {
  std::vector<std::filesystem::path> versions;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql")) versions.push_back(version);
  return *std::max_element(versions.begin(), versions.end()) / "bin";
}

void make_database(const ScratchDirectory& directory, const std::string& data) {
  std::filesystem::permissions(directory.path(""), std::filesystem::perms(0755));
  std::filesystem::create_directories(data);
  run({"chown", "nobody", data});
  run({"setpriv", "--reuid=nobody", "--clear-groups", postgres_programs() + "/initdb", "-D", data, "-U", "test", "-A",
       "trust", "--no-sync"});
}

}  // namespace hawk

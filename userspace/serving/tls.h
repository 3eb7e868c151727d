#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "userspace/base/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace hawk {

/// Certificates and how to use them: for connections that others make to us, or that we make. Copies share them.
class TlsContext {
 public:
  /// Files in PEM: the chain, the server's own certificate first, and its key, which must not be encrypted.
  static Result<TlsContext> of_server(const std::string& certificate_file, const std::string& key_file);
  /// For connections to servers whose certificate one in `ca_file` vouches for; empty: one that the system trusts.
  static Result<TlsContext> of_client(const std::string& ca_file);

  ssl_ctx_st* get() const { return context_.get(); }

 private:
  explicit TlsContext(std::shared_ptr<ssl_ctx_st> context) : context_(std::move(context)) {}
  std::shared_ptr<ssl_ctx_st> context_;
};

/// One connection's encryption, apart from its socket: bytes in, bytes out.
class TlsSession {
 public:
  /// Of a connection that was made to us.
  explicit TlsSession(const TlsContext& server);
  /// Of one that we make to the server `host`, a name or an address, which its certificate must be of.
  TlsSession(const TlsContext& client, const std::string& host);

  /// What has come over the connection.
  void put_received(std::string_view encrypted);
  /// What is to be sent over it, by now.
  std::string take_to_send();

  /// Appends what the other side has said. False: nothing more can come. Also makes the handshake go on.
  bool read(std::string& plain);
  /// Encrypts all of `plain`. Only once is_ready(). False: the session has failed.
  bool write(std::string_view plain);
  bool is_ready() const;
  /// Says that nothing more will be written.
  void close();

  /// Why it has failed; empty: it has not, or the other side has just ended.
  const std::string& failure() const { return failure_; }

 private:
  struct Freer {
    void operator()(ssl_st* ssl) const;
  };
  void start();

  std::unique_ptr<ssl_st, Freer> ssl_;
  std::string failure_;
};

}  // namespace hawk

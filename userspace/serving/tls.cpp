#include "userspace/serving/tls.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>
#include <utility>

#include "userspace/base/check.h"
#include "userspace/base/owned.h"
#include "userspace/base/regular_file.h"
#include "userspace/serving/openssl.h"
#include "userspace/serving/secret_file.h"

namespace hawk {
namespace {

using OwnedBio = std::unique_ptr<BIO, Freer<openssl::BIO_free_all>>;
using OwnedCertificate = std::unique_ptr<X509, Freer<openssl::X509_free>>;
using OwnedKey = std::unique_ptr<EVP_PKEY, Freer<openssl::EVP_PKEY_free>>;

constexpr const char* kPemHint = "PEM is expected, as in files that begin with -----BEGIN";

/// OpenSSL's reason for its last failure; its list of failures is empty afterwards.
std::string last_failure() {
  std::array<char, 256> text{};
  const unsigned long code = openssl::ERR_get_error();
  openssl::ERR_clear_error();
  if (code == 0) return "unknown";
  if (const char* reason = openssl::ERR_reason_error_string(code)) return reason;
  openssl::ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

OwnedBio bio_of(const std::string& bytes) {
  return OwnedBio(openssl::BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

/// In place of OpenSSL's question on the terminal.
int no_passphrase(char*, int, int, void*) { return 0; }

std::shared_ptr<SSL_CTX> new_context(const SSL_METHOD* method) {
  std::shared_ptr<SSL_CTX> context(openssl::SSL_CTX_new(method), Freer<openssl::SSL_CTX_free>());
  HAWK_CHECK(context != nullptr, "OpenSSL makes a context");
  openssl::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  openssl::SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  openssl::SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  return context;
}

tl::unexpected<Error> no_certificate(const std::string& file) {
  return fail(ExitCode::kFile, fmt::format("read certificates from {}: {}", file, last_failure()), kPemHint);
}

Result<void> use_certificates(SSL_CTX* context, const std::string& file) {
  const std::string text = HAWK_TRY(read_small_file(file));
  const OwnedBio bio = bio_of(text);
  const OwnedCertificate own(openssl::PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
  if (own == nullptr || openssl::SSL_CTX_use_certificate(context, own.get()) != 1) return no_certificate(file);
  while (OwnedCertificate issuer{openssl::PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)}) {
    if (openssl::SSL_CTX_add1_chain_cert(context, issuer.get()) != 1) return no_certificate(file);
  }
  openssl::ERR_clear_error();  // the end of the file is one
  return {};
}

Result<void> use_key(SSL_CTX* context, const std::string& file) {
  const std::string text = HAWK_TRY(read_secret_file(file));
  const OwnedBio bio = bio_of(text);
  const OwnedKey key(openssl::PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr) {
    return fail(ExitCode::kFile, fmt::format("read the key from {}: {}", file, last_failure()),
                "it must be in PEM, and not encrypted");
  }
  if (openssl::SSL_CTX_use_PrivateKey(context, key.get()) != 1 || openssl::SSL_CTX_check_private_key(context) != 1) {
    return fail(ExitCode::kFile, fmt::format("use the key in {}: {}", file, last_failure()),
                "it must be that of the first certificate");
  }
  return {};
}

Result<void> trust(SSL_CTX* context, const std::string& file) {
  const std::string text = HAWK_TRY(read_small_file(file));
  const OwnedBio bio = bio_of(text);
  X509_STORE* store = openssl::SSL_CTX_get_cert_store(context);
  std::size_t count = 0;
  while (OwnedCertificate trusted{openssl::PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr)}) {
    if (openssl::X509_STORE_add_cert(store, trusted.get()) != 1) return no_certificate(file);
    ++count;
  }
  if (count == 0) return no_certificate(file);
  openssl::ERR_clear_error();
  return {};
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

}  // namespace

Result<TlsContext> TlsContext::of_server(const std::string& certificate_file, const std::string& key_file) {
  std::shared_ptr<SSL_CTX> context = new_context(openssl::TLS_server_method());
  HAWK_TRY_VOID(use_certificates(context.get(), certificate_file));
  HAWK_TRY_VOID(use_key(context.get(), key_file));
  return TlsContext(std::move(context));
}

Result<TlsContext> TlsContext::of_client(const std::string& ca_file) {
  std::shared_ptr<SSL_CTX> context = new_context(openssl::TLS_client_method());
  if (!ca_file.empty()) {
    HAWK_TRY_VOID(trust(context.get(), ca_file));
  } else if (openssl::SSL_CTX_set_default_verify_paths(context.get()) != 1) {
    return fail(ExitCode::kFile, "read the system's certificates: " + last_failure(), "install ca-certificates");
  }
  openssl::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return TlsContext(std::move(context));
}

void TlsSession::Freer::operator()(ssl_st* ssl) const { openssl::SSL_free(ssl); }

TlsSession::TlsSession(const TlsContext& server) : ssl_(openssl::SSL_new(server.get())) {
  start();
  openssl::SSL_set_accept_state(ssl_.get());
}

TlsSession::TlsSession(const TlsContext& client, const std::string& host) : ssl_(openssl::SSL_new(client.get())) {
  start();
  openssl::SSL_set_connect_state(ssl_.get());
  if (is_address(host)) {
    openssl::X509_VERIFY_PARAM_set1_ip_asc(openssl::SSL_get0_param(ssl_.get()), host.c_str());
  } else {
    openssl::SSL_set1_host(ssl_.get(), host.c_str());
    openssl::SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
  }
  // The client says the first word.
  openssl::SSL_do_handshake(ssl_.get());
  openssl::ERR_clear_error();
}

void TlsSession::start() {
  HAWK_CHECK(ssl_ != nullptr, "OpenSSL makes a session");
  BIO* received = openssl::BIO_new(openssl::BIO_s_mem());
  BIO* to_send = openssl::BIO_new(openssl::BIO_s_mem());
  HAWK_CHECK(received != nullptr && to_send != nullptr, "OpenSSL makes a buffer");
  openssl::BIO_set_mem_eof_return(received, -1);  // nothing more by now, not for ever
  openssl::SSL_set_bio(ssl_.get(), received, to_send);
}

void TlsSession::put_received(std::string_view encrypted) {
  openssl::BIO_write(openssl::SSL_get_rbio(ssl_.get()), encrypted.data(), static_cast<int>(encrypted.size()));
}

std::string TlsSession::take_to_send() {
  BIO* to_send = openssl::SSL_get_wbio(ssl_.get());
  std::string bytes(openssl::BIO_ctrl_pending(to_send), '\0');
  if (!bytes.empty()) openssl::BIO_read(to_send, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

bool TlsSession::read(std::string& plain) {
  std::array<char, 16 * 1024> piece;
  for (;;) {
    const int count = openssl::SSL_read(ssl_.get(), piece.data(), static_cast<int>(piece.size()));
    if (count > 0) {
      plain.append(piece.data(), static_cast<std::size_t>(count));
      continue;
    }
    const int error = openssl::SSL_get_error(ssl_.get(), count);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return true;
    if (error != SSL_ERROR_ZERO_RETURN && failure_.empty()) {
      const long verified = openssl::SSL_get_verify_result(ssl_.get());
      failure_ = verified != X509_V_OK ? openssl::X509_verify_cert_error_string(verified) : last_failure();
    }
    openssl::ERR_clear_error();
    return false;
  }
}

bool TlsSession::write(std::string_view plain) {
  while (!plain.empty()) {
    const int count =
        openssl::SSL_write(ssl_.get(), plain.data(), static_cast<int>(std::min<std::size_t>(plain.size(), 1 << 20)));
    if (count <= 0) {
      failure_ = last_failure();
      return false;
    }
    plain.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool TlsSession::is_ready() const { return openssl::SSL_is_init_finished(ssl_.get()) == 1; }

void TlsSession::close() {
  if (is_ready() && failure_.empty()) openssl::SSL_shutdown(ssl_.get());
  openssl::ERR_clear_error();
}

}  // namespace hawk

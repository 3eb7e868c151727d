#pragma once

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "userspace/base/lazy_function.h"

namespace hawk::openssl {

/// The address of a function of OpenSSL: in the shared library, which is loaded then (openssl_loaded.cpp), or in the
/// program where that is linked statically (openssl_linked.cpp).
void* find(const char* name);

// Under the names that they have, which the library's macros call them by.
#define HAWK_OPENSSL_FUNCTIONS(FUNCTION)     \
  FUNCTION(BIO_ctrl)                         \
  FUNCTION(BIO_ctrl_pending)                 \
  FUNCTION(BIO_free_all)                     \
  FUNCTION(BIO_new)                          \
  FUNCTION(BIO_new_mem_buf)                  \
  FUNCTION(BIO_read)                         \
  FUNCTION(BIO_s_mem)                        \
  FUNCTION(BIO_write)                        \
  FUNCTION(CRYPTO_memcmp)                    \
  FUNCTION(ERR_clear_error)                  \
  FUNCTION(ERR_error_string_n)               \
  FUNCTION(ERR_get_error)                    \
  FUNCTION(ERR_reason_error_string)          \
  FUNCTION(EVP_PKEY_free)                    \
  FUNCTION(PEM_read_bio_PrivateKey)          \
  FUNCTION(PEM_read_bio_X509)                \
  FUNCTION(SHA256)                           \
  FUNCTION(SSL_CTX_check_private_key)        \
  FUNCTION(SSL_CTX_ctrl)                     \
  FUNCTION(SSL_CTX_free)                     \
  FUNCTION(SSL_CTX_get_cert_store)           \
  FUNCTION(SSL_CTX_new)                      \
  FUNCTION(SSL_CTX_set_default_verify_paths) \
  FUNCTION(SSL_CTX_set_options)              \
  FUNCTION(SSL_CTX_set_verify)               \
  FUNCTION(SSL_CTX_use_PrivateKey)           \
  FUNCTION(SSL_CTX_use_certificate)          \
  FUNCTION(SSL_ctrl)                         \
  FUNCTION(SSL_do_handshake)                 \
  FUNCTION(SSL_free)                         \
  FUNCTION(SSL_get0_param)                   \
  FUNCTION(SSL_get_error)                    \
  FUNCTION(SSL_get_rbio)                     \
  FUNCTION(SSL_get_verify_result)            \
  FUNCTION(SSL_get_wbio)                     \
  FUNCTION(SSL_is_init_finished)             \
  FUNCTION(SSL_new)                          \
  FUNCTION(SSL_read)                         \
  FUNCTION(SSL_set1_host)                    \
  FUNCTION(SSL_set_accept_state)             \
  FUNCTION(SSL_set_bio)                      \
  FUNCTION(SSL_set_connect_state)            \
  FUNCTION(SSL_shutdown)                     \
  FUNCTION(SSL_write)                        \
  FUNCTION(TLS_client_method)                \
  FUNCTION(TLS_server_method)                \
  FUNCTION(X509_STORE_add_cert)              \
  FUNCTION(X509_VERIFY_PARAM_set1_ip_asc)    \
  FUNCTION(X509_free)                        \
  FUNCTION(X509_verify_cert_error_string)

// NOLINTNEXTLINE(bugprone-macro-parentheses): a name that is declared has none
#define HAWK_LAZY_FUNCTION(name) inline LazyFunction<decltype(::name), find> name{#name};
HAWK_OPENSSL_FUNCTIONS(HAWK_LAZY_FUNCTION)
#undef HAWK_LAZY_FUNCTION

}  // namespace hawk::openssl

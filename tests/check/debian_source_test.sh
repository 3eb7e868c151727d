#!/bin/bash
# scripts/debian_source on both formats of apt sources, and on the traps that real machines hold.
set -euo pipefail
tool=$(cd "$(dirname "$0")/../../scripts" && pwd)/debian_source
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failures=0

# machine FILE: begins a new machine whose only source file is FILE, with the content from standard input.
machine() {
  rm -rf "${root:?}/etc"
  mkdir -p "$root/etc/apt/sources.list.d"
  cat >"$root/etc/apt/$1"
}

also() { cat >"$root/etc/apt/$1"; }

# derives EXPECTED [TYPE SUITE]: what the tool prints for "deb bookworm-backports", or for TYPE and SUITE.
derives() {
  local got
  got=$("$tool" --root "$root" "${2:-deb}" "${3:-bookworm-backports}" bookworm) || got="(none)"
  [[ $got == "$1" ]] && return
  printf 'line %s\n--- expected\n%s\n--- got\n%s\n' "${BASH_LINENO[0]}" "$1" "$got"
  failures=$((failures + 1))
}

# has SUITE yes|no: whether the tool finds an enabled entry for the suite.
has() {
  local got=no
  if "$tool" --root "$root" --has "$1"; then got=yes; fi
  [[ $got == "$2" ]] && return
  printf 'line %s: --has %s is %s\n' "${BASH_LINENO[0]}" "$1" "$got"
  failures=$((failures + 1))
}

machine sources.list <<'END'
# deb http://commented.example/debian bookworm main
deb-src http://source.example/debian bookworm main
deb http://mirror.example/debian bookworm main contrib # trailing words
deb http://mirror.example/debian-security bookworm-security main
END
derives $'Types: deb\nSuites: bookworm-backports\nURIs: http://mirror.example/debian\nComponents: main contrib'
derives $'Types: deb-src\nSuites: bookworm\nURIs: http://mirror.example/debian\nComponents: main contrib' deb-src bookworm
has bookworm yes
has bookworm-security yes
has bookworm-backports no

machine sources.list.d/debian.list <<'END'
deb [ arch=amd64,arm64 signed-by=/usr/share/keyrings/k.gpg check-valid-until=no ] https://mirror.example/debian/ bookworm main
END
derives $'Types: deb\nSuites: bookworm-backports\nURIs: https://mirror.example/debian/\nComponents: main
Architectures: amd64 arm64\nSigned-By: /usr/share/keyrings/k.gpg\nCheck-Valid-Until: no'

machine sources.list.d/debian.sources <<'END'
# Debian
Types: deb deb-src
# snapshot of a day
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
END
derives $'Types: deb\nSuites: bookworm-backports\nURIs: http://mirror.example/debian\nComponents: main\nSigned-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----'
has bookworm-updates yes
has bookworm-backports no

# Cloud images name their mirrors in a file of their own.
machine sources.list.d/debian.sources <<'END'
Types: deb
URIs: mirror+file:///etc/apt/mirrors/debian.list
Suites: bookworm bookworm-updates bookworm-backports
Components: main
END
derives $'Types: deb\nSuites: bookworm-backports\nURIs: mirror+file:///etc/apt/mirrors/debian.list\nComponents: main'
has bookworm-backports yes

# A vendor that calls its suite by Debian's codename is not Debian; neither is one without the component main.
machine sources.list.d/a-vendor.list <<'END'
deb https://vendor.example bookworm main
deb https://other.example/linux/debian bookworm stable
END
also sources.list.d/z-debian.list <<'END'
deb http://mirror.example/debian bookworm main
END
derives $'Types: deb\nSuites: bookworm-backports\nURIs: http://mirror.example/debian\nComponents: main'

# Disabled entries and other file names do not count.
machine sources.list.d/debian.sources <<'END'
Enabled: no
Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-backports
Components: main
END
also sources.list.d/debian.list.save <<'END'
deb http://mirror.example/debian bookworm main
END
derives '(none)'
has bookworm no
has bookworm-backports no

machine sources.list <<'END'
deb http://mirror.example/debian trixie main
END
derives '(none)'

exit $((failures > 0))

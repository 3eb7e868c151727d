#!/bin/bash
# The Debian package in a bare tree of Debian 12: package_test.sh BUILD_DIRECTORY. It is installed, runs, is upgraded with a
# changed configuration, removed and purged.
set -euo pipefail
# The mounts are those of a namespace of this script's own.
[[ ${HAWK_OWN_MOUNTS:-} ]] || HAWK_OWN_MOUNTS=yes exec unshare --mount --propagation private "$0" "$@"
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
tree=$work/tree
say() { echo "package_test: $*" >&2; }
fail() {
  say "$*"
  exit 1
}
trap 'umount -l "$tree"/proc "$tree"/sys 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT
mkdir "$work/second"
in_tree() { chroot "$tree" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }
# What the package has left: nothing else in Debian has this name.
traces() { (cd "$tree" && find . -path ./proc -prune -o -path ./sys -prune -o -path './var/log/*' -prune -o -name '*hawktrace*' -print); }

package=$(scripts/package "$build" "$work")
scripts/debian_source deb bookworm bookworm >"$work/bookworm.sources"
mmdebstrap --quiet --mode=root --variant=minbase bookworm "$tree" "$work/bookworm.sources" 2>"$work/log" ||
  fail "no tree: $(cat "$work/log")"
cp "$package" "$tree/first.deb"
in_tree dpkg -i /first.deb >"$work/log" 2>&1 </dev/null || fail "cannot be installed: $(cat "$work/log")"
mount -t proc proc "$tree/proc"
mount --rbind /sys "$tree/sys"

say "installed"
[[ $(in_tree hawktrace --version) == "hawktrace "* ]] || fail "does not run"
in_tree dpkg --verify hawktrace | grep . && fail "files differ from the package's"
in_tree hawktrace config --check | grep -q 'hawktrace.toml: valid' || fail "the installed configuration is not valid"
in_tree hawktrace --format json --no-follow -- /bin/ls / | grep -q '"schema": "hawktrace.report/1"' || fail "does not trace"
for file in usr/share/man/man1/hawktrace{,-record}.1.gz usr/share/bash-completion/completions/hawktrace \
  usr/share/zsh/vendor-completions/_hawktrace usr/share/fish/vendor_completions.d/hawktrace.fish \
  usr/lib/systemd/system/hawktrace{,@}.service usr/share/doc/hawktrace/copyright \
  usr/share/doc/hawktrace/examples/{prometheus.yml,parca.yaml,alloy.alloy,pyroscope.toml,network.conf}; do
  [[ -s $tree/$file ]] || echo "$file"
done | grep . && fail "these are missing"
# What the examples mean to Prometheus, Parca and Alloy is seen in tests/unit/serving/clients_test.py.
if command -v promtool >/dev/null; then
  promtool check config "$tree/usr/share/doc/hawktrace/examples/prometheus.yml" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
fi
in_tree cp /usr/share/doc/hawktrace/examples/pyroscope.toml /etc/hawktrace/hawktrace.d/
in_tree hawktrace config --check >"$work/log" 2>&1 || fail "the example of a drop-in is not valid: $(cat "$work/log")"
rm "$tree/etc/hawktrace/hawktrace.d/pyroscope.toml"
if compgen -G "$tree/etc/systemd/system/*/hawktrace*" >/dev/null; then fail "a unit is enabled"; fi
[[ $(stat -c '%a %U' "$tree/etc/hawktrace") == '700 root' ]] || fail "anybody can read /etc/hawktrace"

say "upgraded"
dpkg-deb -R "$package" "$work/second/tree"
sed -i 's/^Version: .*/&+2/' "$work/second/tree/DEBIAN/control"
dpkg-deb -Znone --root-owner-group --build "$work/second/tree" "$tree/second.deb" >/dev/null
echo '# mine' >>"$tree/etc/hawktrace/hawktrace.toml"
in_tree dpkg -i /second.deb >"$work/log" 2>&1 </dev/null || fail "cannot be upgraded: $(cat "$work/log")"
# shellcheck disable=SC2016 # dpkg-query's fields
[[ $(in_tree dpkg-query -W -f '${Status} ${Version}' hawktrace) == 'install ok installed '*+2 ]] || fail "is not upgraded"
tail -n 1 "$tree/etc/hawktrace/hawktrace.toml" | grep -q '^# mine$' || fail "the configuration was overwritten"

say "removed"
mkdir -p "$tree/var/lib/hawktrace" "$tree/etc/systemd/system/multi-user.target.wants"
ln -s /usr/lib/systemd/system/hawktrace.service "$tree/etc/systemd/system/multi-user.target.wants/hawktrace.service"
touch "$tree/etc/hawktrace/hawktrace.d/10-mine.toml"
in_tree dpkg -r hawktrace >"$work/log" 2>&1 || fail "cannot be removed: $(cat "$work/log")"
[[ ! -e $tree/usr/sbin/hawktrace && -e $tree/etc/hawktrace/hawktrace.toml ]] || fail "removes more or less than the program"
in_tree dpkg -P hawktrace >"$work/log" 2>&1 || fail "cannot be purged: $(cat "$work/log")"
[[ -z $(traces) ]] || fail "leaves behind: $(traces)"
say "purged"

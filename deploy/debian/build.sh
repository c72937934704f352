#!/bin/sh
# Makes the Debian package of a built binary. It needs dpkg-deb, and Go for the manual pages.
#
#   make build && deploy/debian/build.sh            # trireme_VERSION_ARCH.deb in bin/
#
# BIN is the binary (bin/trireme), OUT the folder of the package (bin), VERSION what the
# binary says unless it is given. HELP is a binary that runs here, if BIN is for another
# architecture: manual pages and completions are what it says of itself.
set -eu
cd "$(dirname "$0")/../.."
BIN=${BIN:-bin/trireme}
OUT=${OUT:-bin}
HELP=$(realpath "${HELP:-$BIN}")
[ -x "$BIN" ] || { echo "there is no $BIN: run make build first" >&2; exit 1; }
VERSION=${VERSION:-$("$BIN" version --json | sed -n 's/.*"version":"v\{0,1\}\([^"]*\)".*/\1/p')}
# A Debian version begins with a digit, and knows no underscore.
VERSION=$(printf %s "$VERSION" | tr _ -)
case $VERSION in [0-9]*) ;; *) VERSION=0~$VERSION ;; esac
ARCH=${ARCH:-$(dpkg --print-architecture)}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 0755 "$root"

install -D -m 0755 "$BIN" "$root/usr/bin/trireme"
install -D -m 0644 deploy/systemd/trireme.service "$root/lib/systemd/system/trireme.service"
install -D -m 0640 deploy/systemd/trireme.yaml "$root/etc/trireme/trireme.yaml"
install -D -m 0644 deploy/systemd/trireme.logrotate "$root/etc/logrotate.d/trireme"
go run ./scripts/release -manual "$HELP" -out "$root/usr/share/man/man1"
for c in bash:usr/share/bash-completion/completions/trireme zsh:usr/share/zsh/vendor-completions/_trireme fish:usr/share/fish/vendor_completions.d/trireme.fish; do
  mkdir -p "$root/$(dirname "${c#*:}")"
  "$HELP" completion "${c%%:*}" >"$root/${c#*:}"
  chmod 0644 "$root/${c#*:}"
done
for doc in operations upgrading guarantees metrics; do
  install -D -m 0644 "docs/$doc.md" "$root/usr/share/doc/trireme/$doc.md"
done
# Debian's copyright file: who holds the rights, then the licence and those of linked modules.
{
  printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: trireme\n'
  printf 'Source: https://github.com/trireme-dev/trireme\n\nFiles: *\nCopyright: 2026 The Trireme authors\nLicense: Apache-2.0\n'
  printf ' On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n'
  printf ' The licences of the linked modules are in /usr/share/doc/trireme/THIRD_PARTY_LICENSES.gz.\n'
} >"$root/usr/share/doc/trireme/copyright"
chmod 0644 "$root/usr/share/doc/trireme/copyright"
install -D -m 0644 NOTICE "$root/usr/share/doc/trireme/NOTICE"
go run ./scripts/release -licenses "$root/usr/share/doc/trireme/THIRD_PARTY_LICENSES"
gzip -9n "$root/usr/share/doc/trireme/THIRD_PARTY_LICENSES"
install -D -m 0644 deploy/prometheus/alerts.yml "$root/usr/share/doc/trireme/examples/alerts.yml"
install -D -m 0644 deploy/grafana/trireme.json "$root/usr/share/doc/trireme/examples/grafana.json"
gzip -9cn CHANGELOG.md >"$root/usr/share/doc/trireme/CHANGELOG.md.gz"
# Debian's own form, of the commit's day, so that the same source makes the same package.
day=$(date -uR -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}")
printf 'trireme (%s) stable; urgency=medium\n\n  * What is new is in CHANGELOG.md.gz.\n\n -- %s  %s\n' \
  "$VERSION" "$(sed -n 's/^Maintainer: //p' deploy/debian/control)" "$day" | gzip -9cn >"$root/usr/share/doc/trireme/changelog.gz"
chmod 0644 "$root/usr/share/doc/trireme/"*.gz
install -D -m 0644 deploy/debian/lintian-overrides "$root/usr/share/lintian/overrides/trireme"

mkdir "$root/DEBIAN"
chmod 0755 "$root/DEBIAN"
size=$(du -sk "$root" | cut -f1)
sed -e "s/@VERSION@/$VERSION/" -e "s/@ARCH@/$ARCH/" -e "s/@SIZE@/$size/" deploy/debian/control >"$root/DEBIAN/control"
printf '/etc/trireme/trireme.yaml\n/etc/logrotate.d/trireme\n' >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do
  install -m 0755 "deploy/debian/$script" "$root/DEBIAN/$script"
done
mkdir -p "$OUT"
dpkg-deb --root-owner-group --build "$root" "$OUT/trireme_${VERSION}_$ARCH.deb"

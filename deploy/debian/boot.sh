#!/bin/sh
# Boots a Debian whose first process is systemd, in a container of systemd-nspawn, and has it install the package, start the
# unit, upgrade, kill and hang the node, stop, remove and purge. Of this machine only DIR and a temporary folder change.
#
#   make deb && deploy/debian/boot.sh bin/trireme_OLD_ARCH.deb bin/trireme_NEW_ARCH.deb
#
# With one package the upgrade is from the same program under a lower version. It needs root, systemd-nspawn and debootstrap
# (Debian: systemd-container, debootstrap), and a mirror of Debian for the first run: DIR keeps the Debian that it makes.
# Exit code 0: all was done. 1: something failed. 77: it can't be run here, which is said.
set -eu
DIR=${DIR:-/var/tmp/trireme-debian}
SUITE=${SUITE:-bookworm}
cant() { echo "skipped  $1"; exit 77; }
[ $# -ge 1 ] || { echo "give one package or two" >&2; exit 2; }
[ "$(id -u)" = 0 ] || cant "only root can boot a container"
for program in systemd-nspawn debootstrap dpkg-deb; do
  command -v $program >/dev/null || cant "$program is not installed"
done
if [ ! -e "$DIR/.complete" ]; then
  debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus "$SUITE" "$DIR" >"$DIR.log" 2>&1 || cant "debootstrap found no Debian: $DIR.log"
  : >"$DIR/.complete"
fi
work=$(mktemp -d /var/tmp/trireme-boot.XXXXXX)
trap 'rm -rf "$work"' EXIT
root=$work/root
cp -a "$DIR" "$root"
rm -f "$root/.complete"
mkdir "$root/packages"
if [ $# = 1 ]; then
  dpkg-deb -R "$1" "$work/older"
  sed -i 's/^Version: .*/Version: 0~0/' "$work/older/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$work/older" "$root/packages/old.deb" >/dev/null
  cp "$1" "$root/packages/new.deb"
else
  cp "$1" "$root/packages/old.deb"
  cp "$2" "$root/packages/new.deb"
fi

# What runs in the container.
cat >"$root/packages/check" <<'END'
#!/bin/bash
failed=0
check() {
  name=$1
  shift
  if "$@" >/tmp/said 2>&1; then echo "ok       $name"; else
    echo "FAILED   $name"
    tail -n 20 /tmp/said | sed 's/^/         /'
    failed=1
  fi
}
show() { systemctl show -p "$1" --value trireme; }
# wait_for SECONDS COMMAND… repeats a command until it succeeds.
wait_for() {
  left=$1
  shift
  until "$@"; do
    left=$((left - 1))
    [ $left -gt 0 ] || return 1
    sleep 1
  done
}
# ask PATH asks the node, of whatever version.
ask() {
  exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1:8080\r\nAuthorization: Bearer %s\r\n\r\n' "$1" "$token" >&3 && cat <&3
}
token=the-token-that-the-operator-chose
chosen() { echo "TRIREME_TOKEN=$token" >>/etc/trireme/environment; }
writes() { ask /set/k/kept | grep '"result":"OK"'; }
keeps() { ask /get/k | grep '"result":"kept"'; }
idle() { [ "$(systemctl is-active trireme)" = inactive ] && ! systemctl is-enabled trireme; }
owned() { [ "$(stat -c '%U %a' /var/lib/trireme)" = "trireme 700" ] && [ "$(show User)" = trireme ]; }
# Drawn tokens are in a file of the node's user alone, which the command line takes.
discreet() {
  file=/var/lib/trireme/generated-secrets.env
  [ "$(stat -c '%U %a' $file)" = "trireme 600" ] && set -a && . $file && set +a && [ "$(trireme redis SET k kept)" = OK ] &&
    ! journalctl -u trireme | grep -F -e "$TRIREME_ADMIN_TOKEN" -e "$TRIREME_TOKEN" -e "$TRIREME_MESSAGES_TOKEN"
}
other() { [ "$(show MainPID)" != 0 ] && [ "$(show MainPID)" != "$1" ] && trireme health; }
killed() { was=$(show MainPID) && kill -9 "$was" && wait_for 60 other "$was" && keeps; }
hung() { was=$(show MainPID) && kill -STOP "$was" && wait_for 90 other "$was" && keeps; }
upgraded() {
  was=$(show MainPID) before=$(trireme version --json)
  echo '# of the operator' >>/etc/trireme/trireme.yaml
  DEBIAN_FRONTEND=noninteractive dpkg --force-confold -i /packages/new.deb && other "$was" && keeps || return 1
  echo "from $before to $(trireme version --json)"
  [ "$(dpkg-query -W -f '${Version}' trireme)" = "$(dpkg-deb -f /packages/new.deb Version)" ] && grep '^# of the operator' /etc/trireme/trireme.yaml
}
# A stop begins with --drain, ends well and logs no error.
stopped() {
  begin=$(date +%s)
  systemctl stop trireme || return 1
  [ $(($(date +%s) - begin)) -ge 5 ] && [ "$(show Result)" = success ] && ! journalctl -u trireme -p err --since "@$begin" -o cat | grep . &&
    ! journalctl -u trireme --since "@$begin" -o cat | grep -e '"level":"ERROR"'
}
again() { systemctl start trireme && keeps; }
removed() { dpkg -r trireme && [ -d /var/lib/trireme ] && [ -e /etc/trireme/trireme.yaml ] && ! systemctl cat trireme; }
purged() { dpkg -i /packages/new.deb && systemctl enable --now trireme && keeps && dpkg --purge trireme; }
fresh() { dpkg -i /packages/new.deb && systemctl enable --now trireme && trireme health; }
clean() {
  ! find / -xdev \( -path /proc -o -path /sys -o -path /run/log \) -prune -o -iname '*trireme*' -print | grep . && ! getent passwd trireme && ! getent group trireme &&
    ! systemctl list-units --all --plain --no-legend | grep trireme && ! ls -d /run/systemd/units/*trireme*
}

check "installed" dpkg -i /packages/old.deb
check "not started before it is told who it is" idle
check "a token chosen" chosen
check "enabled and started: ready" systemctl enable --now trireme
check "a key written" writes
check "data of its user, mode 0700" owned
check "upgraded: restarted, ready, settings and data kept" upgraded
sed 's/^/         /' /tmp/said | grep ' from ' || true
check "manual pages and completions" ls /usr/share/man/man1/trireme.1.gz /usr/share/man/man1/trireme-serve.1.gz /usr/share/bash-completion/completions/trireme
check "killed: started again, nothing lost" killed
check "hung: ended by the watchdog, started again, nothing lost" hung
check "stopped after it was drained, without an error" stopped
check "started, nothing lost" again
check "removed: settings and data kept" removed
check "installed again, and purged while it runs" purged
check "nothing is left" clean
check "installed anew, without a token: ready" fresh
check "drawn tokens in a file, not in the journal" discreet
check "purged" dpkg --purge trireme
check "nothing is left" clean
[ $failed = 0 ] || journalctl -u trireme --no-pager -o short-monotonic | tail -n 40 >/packages/journal
echo $failed >/packages/result
END
cat >"$root/etc/systemd/system/check.service" <<'END'
[Unit]
Description=What deploy/debian/boot.sh checks
[Service]
Type=oneshot
ExecStart=/bin/bash /packages/check
ExecStopPost=/bin/systemctl --no-block poweroff
StandardOutput=file:/packages/said
StandardError=inherit
TimeoutStartSec=900
END
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../check.service "$root/etc/systemd/system/multi-user.target.wants/check.service"

# --keep-unit and --register=no: the first process of this machine may be another than systemd. The container has a loopback
# device of its own and no other.
boot() { systemd-nspawn -q -D "$root" --boot --private-network --register=no --keep-unit --console=pipe --kill-signal=SIGRTMIN+3 </dev/null >"$work/boot.log" 2>&1; }
boot || true
cat "$root/packages/said" 2>/dev/null || { tail -n 5 "$work/boot.log"; cant "the container did not boot: systemd-nspawn needs cgroups and namespaces that it may change"; }
[ ! -e "$root/packages/journal" ] || cat "$root/packages/journal"
[ "$(cat "$root/packages/result" 2>/dev/null)" = 0 ]

#!/bin/sh
# Runs the images: loads the OCI archive of a release, starts a node of it, stops it and starts it again; builds the image of the
# Dockerfile and brings the compose files up. It takes Docker where its daemon answers, and Podman otherwise.
#
#   make release && deploy/docker/run.sh bin/release/trireme_VERSION_linux_ARCH.oci.tar
#
# NETWORK=host is for machines without bridges (then port 18080 has to be free). Where Podman may not raise limits or change
# cgroups, CONTAINERS_CONF names a file with default_ulimits, runtime and cgroup_manager that it may use. What can't be run here is said. Exit code 0: what
# was run passed. 1: something failed. 77: nothing could be run.
set -u
cd "$(dirname "$0")/../.."
archive=${1:?the OCI archive of this machine\'s architecture}
work=$(mktemp -d)
failed=0
skip() { echo "skipped  $1"; }
if docker info >/dev/null 2>&1; then engine=docker; elif podman info >/dev/null 2>&1; then engine=podman; else
  skip "neither a daemon of Docker nor Podman is here"
  rm -rf "$work"
  exit 77
fi
name=trireme-run-$$
clear_() {
  $engine rm -f -v "$name" >/dev/null 2>&1
  $engine volume rm "$name" >/dev/null 2>&1
  rm -rf "$work"
}
trap clear_ EXIT
check() {
  what=$1
  shift
  if "$@" >"$work/said" 2>&1; then echo "ok       $what ($engine)"; else
    echo "FAILED   $what ($engine)"
    tail -n 20 "$work/said" | sed 's/^/         /'
    failed=1
  fi
}
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
loaded() {
  $engine load -i "$archive" >"$work/loaded" 2>&1 || { cat "$work/loaded"; return 1; }
  cat "$work/loaded"
  image=$(sed -n 's/^Loaded image[^:]*: *//p' "$work/loaded" | tail -n 1)
  [ -n "$image" ]
}
# The settings of deploy/docker/compose-dev.yml, with tokens of its own.
# On a network of its own the node listens everywhere there; on the host's, on loopback alone.
everywhere=0.0.0.0
[ "${NETWORK:-bridge}" != host ] || everywhere=127.0.0.1
started() {
  $engine run -d --name "$name" --read-only --network "${NETWORK:-bridge}" -v "$name:/data" -e TRIREME_NODE_ID=n1 -e TRIREME_HTTP=$everywhere:18080 \
    -e TRIREME_HTTP_ADVERTISE=127.0.0.1:18080 -e TRIREME_CLUSTER=127.0.0.1:17080 -e TRIREME_INITIAL_CLUSTER=n1=127.0.0.1:17080 -e TRIREME_PLAINTEXT=http \
    -e TRIREME_URL=http://127.0.0.1:18080 -e TRIREME_DRAIN=1s -e TRIREME_TOKEN=the-token-of-the-database -e TRIREME_ADMIN_TOKEN=the-token-of-the-admin "$image" &&
    wait_for 60 $engine exec "$name" /trireme health
}
healthy() { $engine exec "$name" /trireme health; }
writes() { [ "$($engine exec "$name" /trireme redis SET k kept)" = OK ]; }
keeps() { [ "$($engine exec "$name" /trireme redis GET k)" = kept ]; }
plain() { [ "$($engine inspect -f '{{.Config.User}}' "$name")" = 65532:65532 ]; }
# Docker runs the health check of the image's configuration; images in OCI's form have none for Podman.
checked() { wait_for 60 sh -c "$engine inspect -f '{{.State.Health.Status}}' $name | grep -x healthy"; }
stopped() { $engine stop -t 20 "$name" && [ "$($engine inspect -f '{{.State.ExitCode}}' "$name")" = 0 ]; }
again() { $engine start "$name" && wait_for 60 healthy && keeps; }
# up FILE SERVICE: the services of a compose file get healthy.
up() {
  $compose -f "deploy/docker/$1" up -d --no-build && wait_for 120 $compose -f "deploy/docker/$1" exec -T "$2" /trireme health
  code=$?
  [ $code = 0 ] || $compose -f "deploy/docker/$1" logs
  $compose -f "deploy/docker/$1" down -v
  return $code
}

check "OCI archive loaded" loaded
if [ $failed = 0 ]; then
  check "a node started, ready" started
fi
if [ $failed = 0 ]; then
  check "its user is not root" plain
  if [ $engine = docker ]; then check "health check of the image" checked; else skip "the health check of the image: Podman takes none from an OCI archive"; fi
  check "a key written" writes
  check "stopped with exit code 0" stopped
  check "started again, nothing lost" again
  # The Dockerfile's image is the same in other steps, so that the compose files are tried with this one where it can't be built.
  if $engine build -q -f deploy/docker/Dockerfile -t trireme:latest . >"$work/built" 2>&1; then
    echo "ok       image of the Dockerfile built ($engine)"
  else
    skip "the image of the Dockerfile was not built: $(tail -n 1 "$work/built")"
    $engine tag "$image" trireme:latest
  fi
  $engine tag trireme:latest trireme:dev
  if $engine compose version >/dev/null 2>&1; then
    compose="$engine compose"
    export TRIREME_TOKEN=the-token-of-the-database TRIREME_ADMIN_TOKEN=the-token-of-the-admin TRIREME_MESSAGES_TOKEN=the-token-of-messages
    TRIREME_GOSSIP_KEY=$(head -c 32 /dev/urandom | base64)
    export TRIREME_GOSSIP_KEY
    $engine rm -f -v "$name" >/dev/null 2>&1
    check "compose-dev.yml" up compose-dev.yml trireme
    check "compose.yml, three nodes" up compose.yml n3
  else
    skip "compose files: $engine compose is not installed"
  fi
fi
exit $failed

#!/bin/sh
# Makes a Dokku app of one node, as root on a Dokku host. The image is that of `make release`, in a registry or loaded on the host.
#
#   deploy/dokku/setup.sh trireme IMAGE         # DRY_RUN=1 prints the commands instead
#
# The health check is that of the image (trireme health), which Docker runs.
set -eu
app=${1:?name of the app}
image=${2:?image of make release}
run() { if [ -n "${DRY_RUN:-}" ]; then echo "$*"; else "$@"; fi; }
token() { head -c 32 /dev/urandom | base64 | tr -d '=+/\n'; }

run dokku apps:create "$app"
run dokku storage:ensure-directory --chown false "$app"
# The image's user.
run chown 65532:65532 "/var/lib/dokku/data/storage/$app"
run dokku storage:mount "$app" "/var/lib/dokku/data/storage/$app:/data"
# Dokku's proxy terminates TLS, and is one address to the node.
run dokku config:set --no-restart "$app" TRIREME_NODE_ID=n1 TRIREME_HTTP=0.0.0.0:8080 TRIREME_CLUSTER=127.0.0.1:7080 \
  TRIREME_INITIAL_CLUSTER=n1=127.0.0.1:7080 TRIREME_PLAINTEXT=http TRIREME_DRAIN=5s TRIREME_MAX_CONNECTIONS_PER_IP=0 \
  "TRIREME_TOKEN=$(token)" "TRIREME_ADMIN_TOKEN=$(token)" "TRIREME_MESSAGES_TOKEN=$(token)"
run dokku ports:set "$app" http:80:8080
# A data directory has one process: the former one stops before the next one starts, and has its time for that.
run dokku checks:disable "$app"
run dokku ps:set "$app" stop-timeout-seconds 25
run dokku git:from-image "$app" "$image"
echo "the tokens: dokku config:show $app"

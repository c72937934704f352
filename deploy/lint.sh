#!/bin/sh
# Has the programs that read these files check them, as far as they are installed: promtool (Debian: prometheus),
# systemd-analyze, dpkg-deb and lintian, helm, kubeconform, docker compose, hadolint, shellcheck. It needs no network,
# changes nothing and starts nothing. What isn't installed is said. Exit code 1: something was found.
set -u
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# check NAME COMMAND… runs a command and shows what it says only if it fails.
check() {
  name=$1
  shift
  if "$@" >"$dir/said" 2>&1; then
    echo "ok       $name"
  else
    echo "FAILED   $name"
    sed 's/^/         /' "$dir/said"
    failed=1
  fi
}

# have PROGRAM: says so where it is not installed.
have() {
  command -v "$1" >/dev/null 2>&1 || { echo "skipped  $1 is not installed"; return 1; }
}

# unit has systemd read the unit. The binary isn't where the unit wants it, and the manual pages may be missing.
unit() {
  ! systemd-analyze verify deploy/systemd/trireme.service 2>&1 | grep 'trireme.service' | grep -v '/usr/bin/trireme is not executable' | grep .
}

# chart renders the chart with Helm, with its defaults and with everything that can be switched on.
chart() {
  helm lint --strict deploy/helm/trireme && helm template t deploy/helm/trireme --kube-version 1.30 >"$dir/plain.yaml" &&
    helm template t deploy/helm/trireme --kube-version 1.30 --set replicas=5,serviceMonitor=true,tls.clusterSecretName=c,tls.apiSecretName=a,storage.className=fast \
      --set extraEnv[0].name=TRIREME_REGION,extraEnv[0].value=eu,ingress.enabled=true,ingress.tlsSecretName=i,clusterInsecure=true,backup.secretName=b,backup.to=s3://kept/trireme,backup.drill.schedule='0 5 * * 0' >"$dir/tls.yaml"
}

# package builds the package of a program that stands for the binary, and has lintian look at it.
package() {
  printf '#!/bin/sh\necho A store\n' >"$dir/trireme" && chmod 0755 "$dir/trireme" &&
    BIN=$dir/trireme OUT=$dir VERSION=0.0.1 ARCH=all deploy/debian/build.sh && dpkg-deb -I "$dir/trireme_0.0.1_all.deb" &&
    dpkg-deb -c "$dir/trireme_0.0.1_all.deb"
}

scripts="deploy/lint.sh deploy/debian/build.sh deploy/debian/boot.sh deploy/debian/postinst deploy/debian/prerm deploy/debian/postrm deploy/docker/run.sh deploy/dokku/setup.sh"
# shellcheck disable=SC2086 # a list
{
  check "scripts (sh -n)" sh -c 'for f in "$@"; do sh -n "$f" || exit 1; done' scripts $scripts
  have shellcheck && check "scripts (shellcheck)" shellcheck $scripts
}
if have promtool; then
  check "alert rules (promtool)" promtool check rules deploy/prometheus/alerts.yml
  check "alert rules, tried (promtool)" promtool test rules deploy/prometheus/alerts_test.yml
  # The token's file is the operator's.
  check "scrape configuration (promtool)" promtool check config --syntax-only deploy/prometheus/prometheus.yml
fi
have systemd-analyze && check "unit (systemd-analyze)" unit
if have dpkg-deb; then
  check "Debian package (dpkg-deb)" package
  have lintian && check "Debian package (lintian)" lintian --fail-on error,warning "$dir/trireme_0.0.1_all.deb"
fi
have helm && check "chart (helm)" chart
if have kubeconform; then
  set -- -strict -schema-location 'deploy/kubernetes/schemas/{{.ResourceKind}}{{.KindSuffix}}.json'
  check "kubectl example (kubeconform)" kubeconform "$@" deploy/kubernetes/trireme.yaml
  if [ -s "$dir/tls.yaml" ]; then check "chart (kubeconform)" kubeconform "$@" "$dir/plain.yaml" "$dir/tls.yaml"; fi
fi
have hadolint && check "Dockerfile (hadolint)" hadolint deploy/docker/Dockerfile
if have docker && docker compose version >/dev/null 2>&1; then
  for f in compose compose-dev; do check "$f.yml (docker compose)" docker compose -f "deploy/docker/$f.yml" config -q; done
fi
exit $failed

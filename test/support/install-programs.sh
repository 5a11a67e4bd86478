#!/usr/bin/env bash
# Installs those of the Debian packages whose program is missing. Tests that need one that cannot be installed are skipped.
set -euo pipefail

is_there() {
  case $1 in
    chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
    php-cli) command -v php ;;
    php-curl) php -r 'exit(function_exists("curl_init") ? 0 : 1);' ;;
    prometheus) command -v promtool ;;
    *) command -v "$1" ;;
  esac >/dev/null 2>&1
}

missing=()
for package in "$@"; do is_there "$package" || missing+=("$package"); done
[ "${#missing[@]}" -gt 0 ] || exit 0
as_root=$([ "$(id -u)" = 0 ] || echo 'sudo -n')
$as_root apt-get update -q || true
for package in "${missing[@]}"; do
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -q -y --no-install-recommends "$package" ||
    echo "$package could not be installed: tests that need it will be skipped" >&2
done

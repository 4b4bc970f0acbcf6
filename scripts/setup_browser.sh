#!/usr/bin/env bash
# Tries to get a Chromium for the tests of the web page. Never fails: where no browser can be had, those tests skip and
# say so. Called by the set-up of developers' machines and of CI; MATHAMR_NO_BROWSER=1 leaves the machine as it is.
set -uo pipefail

say() { echo "mathamr: $*" >&2; }

for name in chromium chromium-browser google-chrome-stable google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then exit 0; fi
done
if [ -n "${MATHAMR_NO_BROWSER:-}" ]; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    say "no Chromium here: the tests of the web page will be skipped (install the package 'chromium' to run them)"
    exit 0
fi

say "installing Chromium for the tests of the web page"
install() { DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install --yes --quiet --no-install-recommends "$@" >/dev/null 2>&1; }
if ! install chromium; then
    timeout 120 apt-get update --quiet >/dev/null 2>&1 || true
    install chromium || say "Chromium cannot be installed here: the tests of the web page will be skipped"
fi
# Without a font for mathematics formulas are drawn all the same, only less well.
command -v chromium >/dev/null 2>&1 && { install fonts-lmodern || true; }
exit 0

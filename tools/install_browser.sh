#!/usr/bin/env bash
# Give the browser tests a Chromium and a Chinese font: Debian's where root, otherwise Playwright's own.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
playwright="$root/.venv/bin/playwright"

has_chromium() {
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null
}

has_cjk_font() {
    command -v fc-list >/dev/null && [ -n "$(fc-list ':lang=zh-cn' family)" ]
}

if has_chromium && has_cjk_font; then
    exit 0
fi

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium and a Chinese font from Debian …"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null
    exit 0
fi

if has_chromium; then
    exit 0 # only the font is missing: screenshots show boxes, tests still hold
fi

if [ ! -x "$playwright" ]; then
    echo "There is no $playwright." >&2
    echo "Remedy: run this through \`make test\`, which makes the environment first." >&2
    exit 1
fi
echo "Installing Playwright's Chromium into the user's cache …"
"$playwright" install chromium

#!/usr/bin/env bash
# Give the tests what they drive besides our own code: a Chromium and a Chinese font, curl and jq,
# and a compiler to build an engine with.
# Debian's packages where root; otherwise Playwright's own Chromium, and a word on what is missing.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
playwright="$root/.venv/bin/playwright"

has() {
    command -v "$1" >/dev/null
}

has_chromium() {
    has chromium || has chromium-browser
}

has_cjk_font() {
    has fc-list && [ -n "$(fc-list ':lang=zh-cn' family)" ]
}

missing=()
has_chromium || missing+=(chromium)
has_cjk_font || missing+=(fonts-noto-cjk)
has curl || missing+=(curl)
has jq || missing+=(jq)
has c++ || missing+=(g++)
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

if [ "$(id -u)" -eq 0 ] && has apt-get; then
    echo "Installing ${missing[*]} from Debian …"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    exit 0
fi

# without a Chinese font screenshots show boxes, and tests still hold
if ! has_chromium; then
    if [ ! -x "$playwright" ]; then
        echo "There is no $playwright." >&2
        echo "Remedy: run this through \`make test\`, which makes the environment first." >&2
        exit 1
    fi
    echo "Installing Playwright's Chromium into the user's cache …"
    "$playwright" install chromium
fi
if ! has curl || ! has jq; then
    echo "The tests of bug reports run a script that needs curl and jq." >&2
    echo "Remedy: install both, such as by: sudo apt-get install curl jq" >&2
    exit 1
fi
if ! has c++; then
    echo "The tests of engines build one from source, which needs a compiler of C++." >&2
    echo "Remedy: install one, such as by: sudo apt-get install g++" >&2
    exit 1
fi

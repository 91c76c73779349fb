#!/usr/bin/env bash
# Find or install a browser for the tests of the page: install_browser.sh STAMP.
# Where that is impossible, one line says what to do, and all goes on: the tests in a browser are then skipped.
set -u
stamp=$1 log=$(dirname "$1")/browser.log

browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

install_chromium() {
    local may=()
    [ "$(id -u)" = 0 ] || may=(sudo -n)
    command -v apt-get && { [ ${#may[@]} = 0 ] || sudo -n true; } || return 1
    for update in false true; do
        ! $update || "${may[@]}" apt-get update || return 1
        DEBIAN_FRONTEND=noninteractive "${may[@]}" apt-get install -y --no-install-recommends chromium fonts-dejavu-core && return
    done
    return 1
}

if ! browser >/dev/null; then
    echo "Setting up a browser for the tests of the page ..."
    install_chromium >"$log" 2>&1
    browser >/dev/null || { echo "No browser: the tests of the page in one are skipped. To have them: apt-get install chromium, then make test again."; exit 0; }
fi
touch "$stamp"

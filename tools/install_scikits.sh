#!/usr/bin/env bash
# Install scikits.odes (IDA) into an environment: install_scikits.sh PYTHON STAMP.
# Where that is impossible, one line says what to do, and all goes on: the report then says so, and its tests are skipped.
set -u
python=$1 stamp=$2 log=$(dirname "$2")/scikits.log

works() { "$python" -c "from scikits.odes import dae" 2>/dev/null; }
headers() { echo '#include <sundials/sundials_config.h>' | cc -E - >/dev/null 2>&1 && command -v gfortran >/dev/null; }
give_up() { echo "scikits.odes is left out ($1). To have it: $2, then run make again."; exit 0; }

install_headers() {
    local may=()
    [ "$(id -u)" = 0 ] || may=(sudo -n)
    command -v apt-get >/dev/null && { [ ${#may[@]} = 0 ] || sudo -n true 2>/dev/null; } || return 1
    for update in false true; do
        ! $update || "${may[@]}" apt-get update || return 1
        DEBIAN_FRONTEND=noninteractive "${may[@]}" apt-get install -y --no-install-recommends gcc libc6-dev gfortran libsundials-dev && return
    done
    return 1
}

if ! works; then
    headers || install_headers >"$log" 2>&1
    headers || give_up "no SUNDIALS headers or no gfortran" "apt-get install gcc gfortran libsundials-dev (SUNDIALS 6)"
    echo "Setting up scikits.odes (it is compiled, about three minutes) ..."
    "$python" -m pip install -qq --disable-pip-version-check --editable ".[scikits]" >"$log" 2>&1
    works || give_up "it does not build here, see $log" "install the headers of SUNDIALS 6.x"
fi
touch "$stamp"

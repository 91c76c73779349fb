#!/usr/bin/env bash
# Install the rivals of the study `rivals` into an environment: install_rivals.sh PYTHON [STAMP].
# Wheels by pip, GNU Octave and R's deSolve by apt-get. What cannot be installed is named in a line, and all goes on: the study then says "not installed".
set -u
python=$1 stamp=${2:-} log=$(mktemp)
missing=()

quietly() { "$@" >>"$log" 2>&1; }

may() { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
debian() {
    command -v apt-get >/dev/null && may || return 1
    for update in false true; do
        ! $update || quietly as_root apt-get update || return 1
        DEBIAN_FRONTEND=noninteractive quietly as_root apt-get install -y --no-install-recommends "$@" && return
    done
    return 1
}

# All wheels in one call, which takes seconds; one by one only where a wheel is missing.
# shellcheck disable=SC2086 # the constraint is two words, or none
wheels() { quietly "$python" -m pip install --disable-pip-version-check ${CONSTRAIN---constraint constraints.txt} --editable ".[$1]"; }
echo "Setting up rivals from wheels and Debian packages (a minute or two) ..."
wheels rivals || for extra in diffsol exudyn rumoca sundials; do
    wheels "$extra" || missing+=("pip install 'herk[$extra]'")
done
command -v octave-cli >/dev/null || debian octave || missing+=("apt-get install octave")
{ command -v Rscript >/dev/null && quietly Rscript -e 'library(deSolve)' && command -v cc >/dev/null; } ||
    debian r-base-core r-cran-desolve gcc libc6-dev || missing+=("apt-get install r-base-core r-cran-desolve gcc")
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' || missing+=("Python 3.12 or newer for sundials4py")

for what in "${missing[@]}"; do echo "A rival is left out. To have it: $what"; done
[ ${#missing[@]} = 0 ] && rm -f "$log" || echo "What was said: $log"
[ -z "$stamp" ] || touch "$stamp"

# For tests/dse/*/test_*.sh, which source it from the repository's root: a folder of their own, checks, and their count at the end.
# shellcheck shell=sh
: "${DSE:?set DSE to the program}"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
n=0 bad=0

# check NAME COMMAND...: the command succeeds
check() {
    name=$1
    shift
    n=$((n + 1))
    if ! "$@" >"$folder/log" 2>&1; then
        echo "not ok: $name"
        sed 's/^/    /' "$folder/log" | head -20
        bad=$((bad + 1))
    fi
}
# code WANTED COMMAND...: the exit code; output in $folder/out and $folder/err
code() {
    wanted=$1
    shift
    "$@" >"$folder/out" 2>"$folder/err"
    got=$?
    [ "$got" -eq "$wanted" ] || {
        echo "exit code $got instead of $wanted: $*"
        cat "$folder/err"
        return 1
    }
}
# finish: the last line of a test, whose exit code is that of the test
finish() {
    echo "$n checks, $bad failed"
    [ "$bad" -eq 0 ]
}

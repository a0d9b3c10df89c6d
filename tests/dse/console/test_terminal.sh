#!/bin/bash
# Escapes and other control characters (ECMA-48: C0 but newline and tab, DEL, C1 in UTF-8 or as raw bytes) in names, titles, paths, options and
# result files reach no output of any command.
# Tests: cli.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
DSE=$(realpath "$DSE")
evil=$'\e[31m\a\b\r\x7f\xc2\x9b31m\x9b31m'
here="${folder:?}/$evil"
mkdir "$here"
cp experiments/architectures/simba.yaml "$here/$evil.yaml"
limit=60
# quiet COMMAND...: says something, and without a control character
quiet() {
    timeout "$limit" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    [ -s "$folder/out" ] || [ -s "$folder/err" ] || { echo 'says nothing' && return 1; }
    ! LC_ALL=C grep -anP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\x80-\xf4])[\x80-\x9f]' "$folder/out" "$folder/err"
}
cat >"$here/sweep.yaml" <<'YAML'
experiment: evil
title: "title \e[31m\x9b31m\x7f"
engine: random
limits: {max_evaluations: 50}
network: alexnet
layers: [conv1]
constraints: [{target: AccumulationBuffer, type: temporal, factors: P=55}]
axes:
  architecture: [simba]
  AccumulationBuffer.capacity: [8 B, 4 KiB]
YAML
printf 'kind: layers\nnetwork: "n\\e[31m"\nlayers:\n- {name: "l\\e[31m\\x9b", type: linear, C: 16, K: 16}\n' >"$here/net.yaml"
cd "$here" || exit 1
check 'the sweep runs' quiet "$DSE" run sweep.yaml -o "$evil.h5"
for command in status 'status --json' watch rerun plot 'plot -k pie' merge 'run --resume' check; do
    # shellcheck disable=SC2086
    check "dse $command" quiet "$DSE" $command "$evil.h5"
done
check 'a sweep that is done' quiet "$DSE" run sweep.yaml -o "$evil.h5"
check 'another result' quiet "$DSE" run sweep.yaml -o "$evil.csv"
for command in run check map eval sample plot status watch merge rerun list slurm calibrate train help completion "$evil"; do
    limit=60
    [ "$command" = watch ] && limit=1 # which waits for files that are not there yet
    check "dse $command of names" quiet "$DSE" "$command" "$evil" "$evil.yaml" "$evil"
    check "dse $command with an option" quiet "$DSE" "$command" "--$evil=$evil" "$evil"
    check "dse $command --help" quiet "$DSE" "$command" --help "$evil"
done
limit=60
check 'dse list engine' quiet "$DSE" list engine "$evil"
check 'dse map' quiet "$DSE" map "./$evil.yaml" net.yaml -e random -s 1
check 'dse map of a layer' quiet "$DSE" map "./$evil.yaml" alexnet -l "$evil"
check 'dse map, an option' quiet "$DSE" map simba alexnet -l conv1 -e random -o "$evil=$evil"
check 'dse map, a quantity' quiet "$DSE" map simba alexnet -l conv1 -e random --set "$evil=$evil"
check 'dse eval' quiet "$DSE" eval "./$evil.yaml" "alexnet:$evil" "$evil.yaml"
check 'dse plot, words' quiet "$DSE" plot "$evil.h5" -m "$evil" -w "$evil=$evil"
check 'dse plot, an axis' quiet "$DSE" plot "$evil.h5" -x "$evil"
check 'dse slurm' quiet "$DSE" slurm sweep.yaml --nodes 1 -o "$evil.h5"
head -c 3000 "$evil.h5" >"$evil.cut.h5"
check 'a damaged file' quiet "$DSE" status "$evil.cut.h5"
check 'the same, drawn' quiet "$DSE" plot "$evil.cut.h5"
printf '%s' "$evil" >"$evil.bad.yaml"
check 'a file of escapes' quiet "$DSE" check "$evil.bad.yaml"
finish

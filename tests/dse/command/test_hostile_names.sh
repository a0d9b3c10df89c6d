#!/bin/bash
# Titles, names and paths that a shell or gnuplot would take for commands are words: nothing runs, every figure is drawn and shows them.
# Tests: command_plot.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
DSE=$(realpath "$DSE")
hostile="it's %d \`touch OWNED1\` \$(touch OWNED2) @HOME \"q\" ;#"
here="${folder:?}/$hostile"
mkdir "$here"
cp experiments/architectures/simba.yaml "$here/|touch OWNED3;#'%s.yaml"
cat >"$here/net's \`touch OWNED4\`.yaml" <<'YAML'
kind: layers
network: END_OF_CELLS
title: '"; system("touch OWNED6"); "'
layers:
- {name: END_OF_CELLS, type: linear, C: 16, K: 16}
- {name: fc2, type: linear, C: 16, K: 32}
YAML
cat >"$here/sweep.yaml" <<'YAML'
experiment: hostile
title: "it's %d `touch OWNED8` $(touch OWNED9) '; system('touch OWNED10'); '"
engine: random
limits: {max_evaluations: 200}
axes:
  architecture: [simba, "./|touch OWNED3;#'%s.yaml"]
  network: ["./net's `touch OWNED4`.yaml"]
  GlobalBuffer.capacity: [64 KiB, 128 KiB]
  constraints:
    "it's `touch OWNED7` %n": [{target: GlobalBuffer, type: temporal, factors: K=1}]
    '"; system("touch OWNED13"); "': []
YAML
cat >"$here/graph's \`touch OWNED15\`.yaml" <<'YAML'
network: END_OF_CELLS
title: '"; system("touch OWNED16"); "'
input: {C: 16, H: 8, W: 8}
layers:
- {name: END_OF_CELLS, type: conv, C: 16, K: 16, P: 8, Q: 8, from: input}
- {name: EOD, type: conv, C: 16, K: 32, P: 8, Q: 8, from: END_OF_CELLS}
YAML
cd "$here" || exit 1

# draws OUT ARGS...: a figure with the title, and nothing else that is new
draws() {
    out=$1
    shift
    code 0 "$DSE" plot "$@" -o "$out" && [ -s "$out" ] && [ -z "$(find . "$folder" -maxdepth 1 -name 'OWNED*')" ]
}
check 'the sweep runs' code 0 "$DSE" run sweep.yaml -o "|touch OWNED11;#'%d.h5"
check 'a schedule' code 0 "$DSE" map soma_edge "./graph's \`touch OWNED15\`.yaml" -e soma -s 1 -f yaml
cp "$folder/out" schedule.yaml
if command -v gnuplot >/dev/null; then
    for kind in heatmap convergence breakdown lines; do
        check "$kind" draws "$kind's %d.svg" "./|touch OWNED11;#'%d.h5" -k "$kind" --keep-script
        check "$kind shows the title" grep -qF "it's %d" "$kind's %d.svg"
        rm -f "$kind's %d.svg"
        check "$kind again by its script" code 0 gnuplot "./$kind's %d.svg.gp"
        check "$kind, drawn by its script" test -s "$kind's %d.svg"
    done
    check 'curves with hostile names' draws "curve's %d.svg" "./|touch OWNED11;#'%d.h5" -k convergence -x seconds -y constraints
    check 'show them' grep -qF "it's \`touch OWNED7\` %n" "curve's %d.svg"
    check 'the execution graph of a schedule' draws "graph's %d.svg" schedule.yaml --arch soma_edge \
        --network "./graph's \`touch OWNED15\`.yaml" --title "$hostile" --keep-script
    check 'a timeline' code 0 "$DSE" eval soma_edge "./graph's \`touch OWNED15\`.yaml" schedule.yaml --timeline "|touch OWNED14;#'.h5"
    check 'the execution graph of a timeline' draws "graph's %d.svg" "./|touch OWNED14;#'.h5" --title "$hostile" --keep-script
    rm -f "graph's %d.svg"
    check 'again by its script' code 0 gnuplot "./graph's %d.svg.gp"
    check 'drawn by its script' test -s "graph's %d.svg"
    check 'a schedule of uops' code 0 "$DSE" map klotski "./graph's \`touch OWNED15\`.yaml" -e klotski -f yaml
    cp "$folder/out" "uops's \`touch OWNED17\` %d.yaml"
    check 'its lanes' draws "graph's %d.svg" "./uops's \`touch OWNED17\` %d.yaml" --arch klotski \
        --network "./graph's \`touch OWNED15\`.yaml" --keep-script
    check 'show its name' grep -qF "uops's \`touch OWNED17\` %d" "graph's %d.svg"
    check 'a title of the command line' draws "a b.png" "./|touch OWNED11;#'%d.h5" --title "$hostile"
fi
check 'a path that is a command' code 2 "$DSE" plot "./|touch OWNED11;#'%d.h5" -o '|touch OWNED12 #.svg'
check 'the same by default' code 2 "$DSE" plot "./|touch OWNED11;#'%d.h5"
check 'a path with an escape' code 2 "$DSE" plot "./|touch OWNED11;#'%d.h5" -o $'\e[31m.svg'
check 'nothing ran' test -z "$(find "$folder" -name 'OWNED*')"
finish

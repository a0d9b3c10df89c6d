#!/bin/bash
# What bash offers behind `dse ...`: every command and option that the help knows, the names of `dse list`, values of options.
# Tests: command_table.c.
set -u
: "${DSE:?set DSE to the program}"
DSE=$(realpath "$DSE")
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
# shellcheck source=/dev/null
source scripts/completion/dse.bash
n=0 bad=0

# offers WORD...: COMPREPLY for this line, the last word being the one that is completed
offers() {
    COMP_WORDS=("$DSE" "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _dse "$DSE" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>"$folder/err"
    if [ -s "$folder/err" ]; then
        echo "messages while completing: $*"
        cat "$folder/err"
        bad=$((bad + 1))
    fi
    echo "${COMPREPLY[*]}"
}
# is WANTED WORD...: exactly these, in this order
is() {
    wanted=$1
    shift
    got=$(offers "$@")
    n=$((n + 1))
    if [ "$got" != "$wanted" ]; then
        echo "not ok: dse $*: \"$got\" instead of \"$wanted\""
        bad=$((bad + 1))
    fi
}
# has WANTED WORD...: this among others
has() {
    wanted=$1
    shift
    got=$(offers "$@")
    n=$((n + 1))
    case " $got " in
        *" $wanted "*) ;;
        *)
            echo "not ok: dse $*: no $wanted in \"$got\""
            bad=$((bad + 1))
            ;;
    esac
}

is 'run eval map sample optimise list convert plot pareto report merge status watch check rerun slurm calibrate train --help --version' ''
is 'map merge' m
is 'engines accountings architectures networks experiments reports layers engine' list ''
is 'conv1' map simba resnet50 --layer conv1
is 'conv3_1 conv3_2 conv3_3' map --seed 3 simba vgg16 -e random -l conv3
is 'conv5_3' map simba experiments/networks/vgg16.yaml --layer conv5_1 --layer = conv5_3
is 'fc6 fc7 fc8' sample simba vgg16 fc
is '' map simba vgg16 --layer pool
is '' map simba nosuchnetwork --layer con
is 'vgg16 vgg19' list layers vgg1
is 'timeloop' map simba resnet50 --accounting t
is 'soma soma-compat' eval soma_edge resnet50_soma s.yaml -a s
is 'random' list engine ran
is 'soma soma-plus' list engines som
is 'descent' map simba resnet50 --engine desc
is 'descent' map simba resnet50 -e desc
is 'descent' map --engine = desc
is 'table yaml csv json vector' map --format ''
is 'table yaml csv json vector' map --format =
is 'table csv json' eval -f ''
is 'table csv json' list engines --matrix -f ''
is 'vgg16 vgg19' list engines --matrix --network vgg1
is 'cosa cosa-best' eval soma_edge resnet50_soma s.yaml --core co
is 'breakdown' plot out.h5 -k breakd
is 'patience=' map simba resnet50 -o pat
is 'victory_condition=' map simba resnet50 --engine hybrid --option vic
is '--set' check --s
is '' run --jobs ''
is '' merge nosuchfile
has simba map ''
has simba map --seed 3 sim
has resnet50 map simba ''
has resnet50_soma eval soma_edge resnet50_s
has resnet50 map --nest -n 100 simba resn
has '--ert' eval a b c -
has '--keep-script' plot --
has docs/sweeps.md check docs/sw
has quickstart run quick
has quickstart check -- ''

# Every option that getopt knows is in the help, so this covers what the program has.
for command in $("$DSE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    for option in $("$DSE" "$command" --help | grep -o '^ *\(-., \)\?--[a-z-]*' | grep -o -e '--.*'); do
        has "$option" "$command" -
        n=$((n + 1))
        if ! grep -qF -e "${option//-/\\-}" docs/dse.1; then
            echo "not ok: docs/dse.1 does not know $option of dse $command"
            bad=$((bad + 1))
        fi
    done
done

# The fixed values are those that the program accepts.
accepted() { "$DSE" "$@" 2>&1 | sed -n 's/.*accepted are \([a-z0-9, ]*\).*/\1/p' | tr -d ','; }
is "$(accepted map simba resnet50 --format '?')" map --format ''
is "$(accepted sample simba resnet50 conv1 --draw '?')" sample --draw ''
known=tests/known/timeloop
case=("$known/archs/gb-rf-4x4-4.yaml" "$known/problems/resnet50-conv3-1x1s2.yaml"
    "$known/maps/047_gb-rf-4x4_resnet50-conv3-1x1s2.yaml")
is "$(accepted eval "${case[@]}" --format '?')" eval --format ''
is 'levels networks summary noc machine summary levels networks summary tiles tensors instructions summary uops edges networks links' eval --report ''
is "$("$DSE" map soma_edge resnet50_soma -e soma -o core=? 2>&1 | sed -n 's/.*\(auto, .*\)/\1/p' | tr -d ',')" eval --core ''

printf 'a_byte,status,edp_js,energy_j\n' >"$folder/x.csv"
is 'edp_js energy_j' plot "$folder/x.h5" --metric e
is 'edp_js' report "$folder/x.h5" --metric ed
is 'a_byte' status "$folder/x.h5" --by ''
is 'table json' watch --format ''
is "$(accepted status "$folder/x.h5" --front --format '?')" status --format ''

echo "$n checks, $bad failed"
[ "$bad" -eq 0 ]

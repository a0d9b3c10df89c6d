#!/bin/sh
# Every engine on every shipped machine, with small networks of each kind: what `dse list engines --matrix` says is taken is searched and
# not fail. All networks: make check-everywhere. Tests: engine_matrix.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

# A list of one layer, a graph, and attention with a cache.
check 'small networks everywhere' code 0 scripts/check-everywhere -j 2 --networks lstm_m,mlp_m,gpt2_small_decode513 "$DSE"
check 'schedulers' grep -q '^schedulers: [0-9]* combinations, [0-9]* taken' "$folder/out"
check 'mappers' grep -q '^mappers, accounting interstellar: [0-9]* combinations, [0-9]* taken' "$folder/out"
check 'a GPU is none of theirs' grep -q '^ *[0-9]*  .*: it is a GPU' "$folder/out"

# A program that says of everything that it runs is found out.
cat >"$folder/liar" <<END
#!/bin/sh
case "\$*" in
    *--matrix*) "$(realpath "$DSE")" "\$@" | sed 's/,refused,.*/,ok,/' ;;
    *) exec "$(realpath "$DSE")" "\$@" ;;
esac
END
chmod +x "$folder/liar"
check 'what is not so' code 1 scripts/check-everywhere --machines k80 --networks mlp_m --engines unfused,descent "$folder/liar"
check 'is told' grep -q '^  FAILED: unfused on k80, mlp_m: .*it is a GPU' "$folder/out"
finish

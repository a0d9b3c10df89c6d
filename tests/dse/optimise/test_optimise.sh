#!/bin/sh
# The hierarchy that a search proves best is the best of all of them priced, and the front is that of all; fewer are priced.
# Tests: optimise.c, layer_search.c, layer_bounds.c, hierarchies.c, dataflow_schedule.c, network_pool.c, optimise_report.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

optimise() {
    "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml experiments/interstellar/networks/alexnet.csv "$@"
}
# The row of answers without how many were priced.
answers() {
    cut -d, -f1-9 "$1" >"$2"
}
priced() {
    awk -F, 'NR == 2 { print $NF }' "$1"
}
rf1='RF1=16 B,32 B' rf2='RF2=none,64 B..256 B' sram='SRAM=128 KiB..512 KiB'

# Section 6.3 of the paper: "The optimal memory hierarchy uses 16 B and 128 B ..., with a 256 KB global SRAM double buffer."
check 'AlexNet' code 0 optimise --size "$rf1" --size "$rf2" --size "$sram" -f csv
check 'has the hierarchy of the paper' grep -q '^alexnet,RF1=16 B RF2=128 B SRAM=256 KiB,' "$folder/out"
cp "$folder/out" "$folder/few"
check 'all priced' code 0 optimise --size "$rf1" --size "$rf2" --size "$sram" -f csv --every
cp "$folder/out" "$folder/all"
answers "$folder/few" "$folder/few.answer"
answers "$folder/all" "$folder/all.answer"
check 'it is the same' cmp "$folder/few.answer" "$folder/all.answer"
check 'all were 24 = 2 x 4 x 3' test "$(priced "$folder/all")" -eq 24
check 'few were less than half' test "$(priced "$folder/few")" -lt 12
check 'three threads' code 0 optimise --size "$rf1" --size "$rf2" --size "$sram" -f csv -j 3
check 'write the same bytes' cmp "$folder/few" "$folder/out"

# By the authors' rules levels are half full, so that a larger memory need not be better.
same() {
    what=$1
    shift
    check "$what" code 0 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml "$@" --size 'RF1=16 B,32 B' --size 'RF2=64 B..256 B' --size 'SRAM=128 KiB,256 KiB' -f csv
    answers "$folder/out" "$folder/few.answer"
    check "$what, all priced" code 0 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml "$@" --size 'RF1=16 B,32 B' --size 'RF2=64 B..256 B' --size 'SRAM=128 KiB,256 KiB' -f csv --every
    answers "$folder/out" "$folder/all.answer"
    check "$what: the same" cmp "$folder/few.answer" "$folder/all.answer"
}
same 'interstellar-compat' experiments/interstellar/networks/alexnet.csv -a interstellar-compat -o threshold=0
same 'any dataflow' mlp_m -b 16 --dataflow any
same 'the front' experiments/interstellar/networks/alexnet.csv --front
check 'has several' test "$(wc -l <"$folder/out")" -gt 3

# The front in energy, latency, storage and area: what dse optimise --every --front has, and that by its definition, over the rows that
# each hierarchy alone has.
areas="--set MAC.area=600um2 --set SRAM.area_per_byte=4um2 --set RF1.area_per_byte=8um2 --set RF1.area=20um2"
# shellcheck disable=SC2086
same 'a front of four' mlp_m lstm_m --dataflow any --front $areas
check 'has several latencies' test "$(cut -d, -f8 "$folder/out" | sort -u | wc -l)" -gt 3
cp "$folder/out" "$folder/four"
for rf1 in '16 B' '32 B'; do for rf2 in '64 B' '128 B' '256 B'; do for sram in '128 KiB' '256 KiB'; do
    # shellcheck disable=SC2086
    "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m lstm_m --dataflow any $areas --size "RF1=$rf1" --size "RF2=$rf2" --size "SRAM=$sram" -f csv | grep '^all,'
done; done; done >"$folder/each"
check 'twelve hierarchies' test "$(wc -l <"$folder/each")" -eq 12
check 'those that no other beats' awk -F, '
    NR == FNR { n++; e[n] = $5; t[n] = $8; b[n] = $3; a[n] = $4; name[n] = $2; next }
    FNR > 1 { front[$2] = 1; n_front++ }
    END { for (i = 1; i <= n; i++) { beaten = 0
              for (k = 1; k <= n; k++)
                  beaten = beaten || e[k] <= e[i] && t[k] <= t[i] && b[k] <= b[i] && a[k] <= a[i] && (e[k] < e[i] || t[k] < t[i] || b[k] < b[i] || a[k] < a[i])
              if (beaten == (name[i] in front)) exit 1
              n_front -= !beaten }
          exit n_front != 0 }' "$folder/each" "$folder/four"
same 'a front of one is the best' mlp_m --front=energy_j
check 'one row' test "$(wc -l <"$folder/out")" -eq 2
check 'a front of what is no column' code 2 optimise --size 'RF1=16 B' --front=energy
check 'names the near one' grep -q 'did you mean energy_j?' "$folder/err"
check 'mappings of a front' code 2 optimise --size 'RF1=16 B' --front -r mappings

# 16 B x 256 = 4 KiB to 128 KiB is 32 times as much; 32 B is 16 times, 64 B 8 times: the rule of 4 to 16 leaves these two.
check 'the rule of 4 to 16' code 0 optimise --size 'RF1=16 B..64 B' --size 'RF2=none' --size 'SRAM=128 KiB' --ratio 4:16 -f csv
check 'leaves two of three' awk -F, 'NR == 2 { exit $(NF - 1) != 2 }' "$folder/out"
check 'a limit on storage' code 0 optimise --size 'RF1=16 B..64 B' --size 'RF2=none' --size 'SRAM=128 KiB' --max-storage '136 KiB' -f csv
check 'leaves 4 KiB and 8 KiB of registers' awk -F, 'NR == 2 { exit $(NF - 1) != 2 }' "$folder/out"
check 'no hierarchy within the limits' code 2 optimise --size 'SRAM=128 KiB' --max-storage '1 KiB'
check 'is said' grep -q 'none of the 1 hierarchies keeps within the limits' "$folder/err"
check 'registers that hold no word of each tensor' code 1 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m --size 'RF1=2 B,4 B' --size 'RF2=none' --size 'SRAM=128 KiB'
check 'are told' grep -q 'no hierarchy has a mapping for every layer' "$folder/out"

# A hierarchy for each network is never worse than one for all, and its energies are those of dse map on that machine.
check 'two networks, one hierarchy' code 0 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m lstm_m --size 'RF2=64 B..256 B' --size 'SRAM=64 KiB..256 KiB' -f csv
cp "$folder/out" "$folder/one"
check 'a hierarchy each' code 0 "$DSE" optimise experiments/interstellar/architectures/rf2_sram.yaml mlp_m lstm_m --size 'RF2=64 B..256 B' --size 'SRAM=64 KiB..256 KiB' -f csv --each
check 'needs no more' awk -F, 'FNR == 1 { next } NR == FNR { one[$1] = $5; next } $5 > one[$1] { bad = 1 } END { exit bad }' "$folder/one" "$folder/out"
check 'mappings' code 0 optimise --size 'RF1=16 B' -f csv -r mappings
check 'are those of dse map' awk -F, 'NR > 1 { n++ } $3 == "conv3" && $8 != "C|K" { bad = 1 } END { exit bad || n != 8 }' "$folder/out"

check 'no sizes' code 2 optimise
check 'has an example' grep -q -- "--size 'RF=16 B..512 B'" "$folder/err"
check 'a range downwards' code 2 optimise --size 'RF1=64 B..16 B'
check 'an unknown level' code 2 optimise --size 'RF3=64 B'
check 'names it' grep -q 'RF3' "$folder/err"
check 'the level around the array' code 2 optimise --size 'SRAM=none,64 KiB'
check 'cannot be left out' grep -q 'only a level without an array inside it' "$folder/err"
check 'a dataflow of one side' code 2 optimise --size 'RF1=16 B' --dataflow C
finish

#!/bin/sh
# dse eval --timeline and dse plot of what it writes: HDF5 and CSV agree, rows are those of the reports, figures of one and of several
# schedules, refusals.
# Tests: schedule_input.c, timeline_plot.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
stage1=experiments/soma/schedules/resnet50_fused.yaml stage2=experiments/soma/schedules/resnet50_fused_stage2.yaml

eval_schedule() {
    "$DSE" eval soma_edge resnet50_soma "$@" --compat
}
# says WORDS: the message has them
says() {
    grep -q -- "$1" "$folder/err"
}
is_png() {
    [ "$(dd if="$1" bs=1 skip=1 count=3 2>/dev/null)" = PNG ]
}

check 'timeline as HDF5' code 0 eval_schedule $stage1 --timeline "$folder/stage1.h5"
check 'beside the report' grep -q '1,902,450 cycles' "$folder/out"
check 'timeline as CSV' code 0 eval_schedule $stage1 --timeline "$folder/stage1.csv"
check 'nothing is left over' test ! -e "$folder/stage1.h5.tmp" -a ! -e "$folder/stage1.csv.tmp"
check 'the same bytes again' code 0 eval_schedule $stage1 --timeline "$folder/again.h5"
cp "$folder/stage1.h5" "$folder/first.h5"
check 'whatever the file is called' cmp "$folder/first.h5" "$folder/again.h5"

# start, finish and stall of tiles; start and finish of tensors in the DRAM order, as in the reports (which other tests compare with
# the published program's events)
check 'tiles' code 0 eval_schedule $stage1 --report tiles --format csv
awk -F, 'NR > 1 { print $2, $3, $12, $13, $14 }' "$folder/out" >"$folder/report"
awk -F, '$1 == "compute" { print $4, $7, $10, $11, $16 }' "$folder/stage1.csv" >"$folder/rows"
check 'tiles are those of the report' cmp "$folder/report" "$folder/rows"
check 'tensors' code 0 eval_schedule $stage1 --report tensors --format csv
awk -F, 'NR > 1 && $7 != "" { print $7, $1, $2, $3, $6, $8, $9, $13, $14 }' "$folder/out" | sort -n >"$folder/report"
awk -F, '$1 == "dram" { print $2, $6, $3, $4, $13, $14, $15, $10, $11 }' "$folder/stage1.csv" >"$folder/rows"
check 'transfers are those of the report' cmp "$folder/report" "$folder/rows"
check 'and are there' test "$(wc -l <"$folder/rows")" -eq 58

# The readers: CSV and HDF5 are the same, and the average over time is that of the summary.
check 'summary' code 0 eval_schedule $stage1 --format csv
cat >"$folder/read.py" <<'PYTHON'
import sys
sys.path.insert(0, "plotting")
import h5py
import dse_results
h5, csv = dse_results.timeline(sys.argv[1]), dse_results.timeline(sys.argv[2])
summary = dict(line.strip().split(",") for line in open(sys.argv[3]))
for name in dse_results.TIMELINE_COLUMNS:
    a, b = getattr(h5, name), getattr(csv, name)
    assert len(a) > 0 and a.equals(b), name
assert h5.attrs["latency_cycle"] == int(summary["latency_cycle"]) == h5.buffer["finish_cycle"].iloc[-1]
assert abs(h5.average_byte() / float(summary["buffer_average_byte"]) - 1) < 1e-12
with h5py.File(sys.argv[1]) as file:
    assert file.attrs["format"] == "dse timeline 1"
    for name, columns in dse_results.TIMELINE_COLUMNS.items():
        assert list(file[name]) == columns, name
        for column in columns[1:]:
            assert file[name][column].dims[0][0].name == f"/{name}/{columns[0]}", column
            assert file[name][column].attrs["long_name"]
    assert file["compute"]["start_cycle"].attrs["units"] == "cycle"
    assert file["buffer"]["weight_byte"].attrs["units"] == "byte"
for wrong in ("read.py", "figure.h5"):
    try:
        dse_results.timeline(sys.argv[4] + "/" + wrong)
        raise SystemExit(wrong + " was read")
    except (ValueError, OSError, ImportError):
        pass
PYTHON
printf 'no,timeline\n1,2\n' >"$folder/figure.h5"
if "${PYTHON:-python3}" -c 'import h5py, xarray, pandas' 2>/dev/null; then
    check 'readers' "${PYTHON:-python3}" "$folder/read.py" "$folder/stage1.h5" "$folder/stage1.csv" "$folder/out" "$folder"
    # a dataset that says it has 10^12 values, of which the file holds none
    cp "$folder/stage1.h5" "$folder/long.h5"
    "${PYTHON:-python3}" - "$folder/long.h5" <<'PYTHON'
import sys
import h5py
with h5py.File(sys.argv[1], "r+") as file:
    del file["dram"]["kind"]
    file["dram"].create_dataset("kind", shape=(10**12,), dtype=h5py.string_dtype(), chunks=(1024,))
PYTHON
    check 'damaged length' code 2 "$DSE" plot "$folder/long.h5" -o "$folder/x.png"
    check 'is told' says 'longer than what the file holds'
fi

check 'stage 2' code 0 eval_schedule $stage2 --timeline "$folder/stage2.h5"
if gnuplot --version >/dev/null 2>&1; then
    check 'one' code 0 "$DSE" plot "$folder/stage1.h5"
    check 'beside it' is_png "$folder/stage1.png"
    check 'two' code 0 "$DSE" plot "$folder/stage1.h5" "$folder/stage2.h5" -o "$folder/two.svg" --keep-script --title 'Two of them'
    check 'with the title' grep -q "^dse_title = 'Two of them'" "$folder/two.svg.gp"
    check 'first above second' grep -q "^panel_title\[1\] = 'resnet50_fused'" "$folder/two.svg.gp"
    check 'on one axis' grep -q "^panel_title\[2\] = 'resnet50_fused_stage2'" "$folder/two.svg.gp"
    check 'a part' code 0 "$DSE" plot "$folder/stage1.h5" --cycles 100000:200000 -o "$folder/part.pdf" --keep-script
    check 'from 100 us' grep -q '^dse_low = 100$' "$folder/part.pdf.gp"
    check 'straight from the schedule' code 0 "$DSE" plot $stage2 --arch soma_edge --compat -o "$folder/s.svg" --keep-script
    check 'the file' code 0 "$DSE" plot "$folder/stage2.h5" -o "$folder/h.svg" --keep-script
    sed '/^dse_output = /d' "$folder/s.svg.gp" >"$folder/s.gp"
    sed '/^dse_output = /d' "$folder/h.svg.gp" >"$folder/h.gp"
    check 'is the same figure' cmp "$folder/s.gp" "$folder/h.gp"
    # as sweeps have it: on one line
    printf '%s\n' '{soma: 1, network: resnet50_soma, groups: [' >"$folder/line.yaml"
    sed -n 's/^- \({.*}\)$/\1,/p' $stage1 >>"$folder/line.yaml"
    echo ']}' >>"$folder/line.yaml"
    check 'on one line' code 0 "$DSE" plot "$folder/line.yaml" --arch soma_edge --compat
    check 'beside it' is_png "$folder/line.png"
    check 'after the file' grep -q "^panel_title\[1\] = 'resnet50_fused_stage2'" "$folder/s.svg.gp"
fi

# refusals
check 'another ending' code 2 eval_schedule $stage1 --timeline "$folder/x.txt"
check 'is told' says 'ends in .h5 or .csv'
check 'no such place' code 2 eval_schedule $stage1 --timeline "$folder/none/x.h5"
check 'of a mapping' code 2 "$DSE" eval simba resnet50:conv1 "$folder/read.py" --timeline "$folder/x.h5"
check 'is told' says '--timeline belongs to a schedule'
check 'a schedule that does not fit' code 2 eval_schedule $stage1 --timeline "$folder/x.h5" --set GBUF.capacity='2 MiB'
check 'leaves no file' test ! -e "$folder/x.h5"
check 'options of sweeps' code 2 "$DSE" plot "$folder/stage1.h5" -k breakdown -o "$folder/x.png"
check 'are told' says '--kind belongs to the results of a sweep'
check 'a schedule alone' code 2 "$DSE" plot $stage1 -o "$folder/x.png"
check 'needs a machine' says '--arch says on what machine'
check 'another network' code 2 "$DSE" plot $stage1 --arch soma_edge --network resnet101_soma --compat -o "$folder/x.png"
check 'a flag of a report' code 2 "$DSE" plot $stage1 --arch soma_edge --align 4 -o "$folder/x.png"
check 'is none of figures' says 'unknown option --align'
check 'another core' code 2 "$DSE" plot $stage1 --arch soma_edge --core cosmos -o "$folder/x.png"
check 'is no such core' says '"cosmos"'
check 'not to be drawn' code 2 "$DSE" plot $stage1 --arch soma_edge --network resnet50_soma --compat --set GBUF.capacity='2 MiB' -o "$folder/x.png"
check 'says why' says 'does not fit'
check 'bad cycles' code 2 "$DSE" plot "$folder/stage1.h5" --cycles 5 -o "$folder/x.png"
check 'are told' says 'FROM:TO'
check 'nothing to see' code 2 "$DSE" plot "$folder/stage1.h5" --cycles 2000000: -o "$folder/x.png"
check 'CSV' code 2 "$DSE" plot "$folder/stage1.csv" -o "$folder/x.png"
check 'is no HDF5' says 'not an HDF5 file'
check 'second is none' code 2 "$DSE" plot "$folder/stage1.h5" "$folder/figure.h5" -o "$folder/x.png"
head -c 3000 "$folder/stage1.h5" >"$folder/half.h5"
check 'half a file' code 2 "$DSE" plot "$folder/half.h5" -o "$folder/x.png"
check 'options of schedules' code 2 "$DSE" plot "$folder/half.h5" --compat -o "$folder/x.png"
check 'are told' says '--compat belongs to the execution graph'
check 'nothing was drawn' test ! -e "$folder/x.png"
finish

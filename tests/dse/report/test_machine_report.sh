#!/bin/sh
# The report of a machine: energies as the file has them, or as a technology says. Tests: machine_report.c.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/m.yaml" <<'Y'
architecture: m
clock: 1 GHz
technology: 45 nm
hierarchy:
- {storage: DRAM, kind: dram, word: 8 bit, block: 64 word, access_energy: 512 pJ}
- {array: PE, mesh: 4x4}
- {storage: File, word: 16 bit, capacity: 512 B, block: 2 word, area: 0.5 mm2}
- {macs: MAC, word: 8 bit}
Y
"$DSE" eval "$dir/m.yaml" --report machine -f csv >"$dir/out"
# CACTI at 45 nm, 512 B, 32 bit: the table's own point; Horowitz: 0.2 + 0.05 pJ, 282 + 67 um2.
cat >"$dir/expected" <<'C'
component,instances,capacity_byte,access_bit,read_energy_j,write_energy_j,update_energy_j,area_mm2,total_area_mm2,leakage_w,source
DRAM,1,,512,5.12e-10,5.12e-10,5.12e-10,,,,the file
C
head -2 "$dir/out" | diff - "$dir/expected"
grep -q '^File,16,512.0,32,.*,0.5,8.0,[0-9.e-]*,"CACTI 7, mean error 6 %"$' "$dir/out"
awk -F, '$1 == "MAC" { bad = $2 != 16 || $5 - 2.5e-13 > 1e-20 || 2.5e-13 - $5 > 1e-20 || $10 != "" || $11 != "Horowitz" } END { exit bad }' "$dir/out"
# For people; and what else is asked for is refused.
"$DSE" eval simba --report machine | grep -q '^GlobalBuffer .* 128 KiB .* the file$'
if "$DSE" eval simba --report levels 2>"$dir/err"; then exit 1; fi
grep -q 'accepted are machine' "$dir/err"

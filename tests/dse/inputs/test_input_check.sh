#!/bin/sh
# dse check tells all that is wrong with an architecture or a network file, on its own or named by a specification, and nothing that
# only follows from it. Expected: the lines of the faults that are written into the files here.
# Tests: input_check.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh
# blamed NAME FILE WANTED [SPEC]: the lines of FILE that are blamed, when it is checked itself, or SPEC is
blamed() {
    check "$1: exit code" code 2 "$DSE" check "${4:-$2}"
    check "$1" test "$(sed -n "s|^dse: $2:\([0-9]*\): .*|\1|p" "$folder/err" | tr '\n' ' ')" = "$3"
}
arch=$folder/arch.yaml net=$folder/net.yaml spec=$folder/spec.yaml
printf 'experiment: e\narchitecture: arch.yaml\nnetwork: net.yaml\nengine: random\nseeed: 1\n' >"$spec"
cat >"$arch" <<'END'
architecture: bad name
clok: 1 GHz
noc: {flit: 3, flitt: 3}
hierarchy:
- storage: DRAM
  kid: dram
  word: 8 bit
  bandwidth: 3 QB/s
  access_energy: 1 pJ
- storage: Buf
  capacity: 64 KiX
  word: 8 bit
  energy_rule: {exponentt: 3}
- array: X
  mesh: 4
- stoarge: Y
- macs: M
  energy: x
END
cat >"$net" <<'END'
network: my net
titel: x
input: {C: 3, H: 0, W: 8}
layers:
- {name: a, type: conv, from: input, C: 3, K: x, R: 3, S: 3, P: 8, Q: 8, strid: 2}
- {name: a, type: convv, from: input, C: 3}
- {name: b, type: linear, frm: a, c: 3, K: 4}
- {name: c, type: pool, from: bb, C: 4, stride: [1, 2, 3]}
END
machine='1 2 3 3 6 8 11 13 15 16 17 18 ' layers='1 2 3 5 5 6 6 7 7 8 8 '
blamed 'a machine: names, keys, values' "$arch" "$machine"
check 'the clock is not missed: it is misspelt' test "$(grep -c clock "$folder/err")" -eq 1
blamed 'a network: names, keys, values, producers' "$net" "$layers"
blamed 'both by a specification: the machine' "$arch" "$(echo "$machine" | cut -d' ' -f1-12) " "$spec"
check 'and the specification itself' grep -q "spec.yaml:5: .*seeed" "$folder/err"
check 'twenty lines' test "$(grep -c '^dse: .*:[0-9]*: ' "$folder/err")" -eq 20
check 'and a count of the rest' test "$(tail -n 1 "$folder/err")" = 'dse: and 4 more'

cat >"$arch" <<'END'
architecture: fine
clock: 1 GHz
hierarchy:
- storage: DRAM
  kind: dram
  word: 8 bit
  bandwidth: 3 GB/s
- storage: Buf
  word: 8 bit
  access_energy: 1 pJ
  bandwidth: 3 GB/s
  read_bandwidth: 3 GB/s
- macs: M
  word: 8 bit
  energy: 1 pJ
END
cat >"$net" <<'END'
network: net
input: {C: 3, H: 8, W: 8}
layers:
- {name: a, type: conv, from: input, C: 4, K: 8, R: 3, S: 3, P: 6, Q: 6}
- {name: b, type: conv, from: a, C: 9, K: 8, R: 1, S: 1, P: 6, Q: 6}
- {name: c, type: conv, from: b, C: 8, K: 8, R: 3, S: 3, P: 6, Q: 6}
- {name: d, type: add, from: [b, cc], C: 8, P: 6, Q: 6}
- {name: e, type: add, from: [d, d], C: 9, P: 6, Q: 6}
END
blamed 'a machine: how its parts go together' "$arch" '4 8 12 '
blamed 'a network: sizes; not of what comes of a bad layer' "$net" '4 5 6 7 '
check 'dse run tells the first' code 2 "$DSE" run "$spec" -o "$folder/o.h5"
check 'alone' test "$(wc -l <"$folder/err")" -eq 1
for name in architectures/simba networks/resnet50 networks/unet networks/gpt2_small_prefill512; do
    check "$name is fine" code 0 "$DSE" check "experiments/$name.yaml"
    check 'and says so' grep -q '^[an][a-z]* [a-z0-9_]*: [0-9]* ' "$folder/out"
done
check 'so is a problem file of Timeloop' code 0 "$DSE" check tests/known/timeloop/problems/alexnet-conv2-5x5.yaml
for name in architectures/eyeriss512.json networks/alexnet.csv; do
    check "so is Interstellar's $name" code 0 "$DSE" check "experiments/interstellar/$name"
    check 'and says so' grep -q '^[an][a-z]* [a-z0-9_]*: [0-9]* ' "$folder/out"
done
printf '{"fmap_width": 3, "fmap_height": 3, "input_fmap_channel": 2, "output_fmap_channel": 4, "window_width": 1, "stride": 2}' >"$folder/l.json"
check 'a layer of theirs that lacks a key' code 2 "$DSE" check "$folder/l.json"
check 'says it as such' grep -q 'l.json:1: .*layer of Interstellar' "$folder/err"
printf 'name,B,K,C,X,Y,FX,FY\nA,1,0,1,1,1,1,1\n' >"$folder/t.csv"
check 'a table with a fault' code 2 "$DSE" check "$folder/t.csv"
check 'says where' grep -q 't.csv:2: column K: "0"' "$folder/err"
cat >"$folder/t.yaml" <<'END'
architecture:
  version: 0.3
  subtree:
  - name: system
    local:
    - name: DRAM
      class: DRAM
      attributes: {width: 64, block-size: 4, wordbits: 16, read_bandwidth: -1}
    subtree:
    - name: chip
      local:
      - name: Buffer
        class: SRAM
        attributes:
          entries: 1x
          instances: 4
          meshX: 3
          meshY: 3
          write_bandwidth: 0
      - {name: Buffer, class: nothing}
      subtree:
      - name: PE[0..15]
        local:
        - name: RF
          class: regfile
          atributes: {entries: 16}
        - name: MAC
          class: intmac
          attributes: {word-bits: 0, energy: 0.5}
END
blamed "a machine of Timeloop's: all that is wrong" "$folder/t.yaml" '8 8 12 15 19 20 26 29 29 '
cat >"$folder/t.yaml" <<'END'
problem:
  shape:
    name: conv
    dimensions: [C, K, P]
    coefficients:
    - {name: stride, default: 1}
    data-spaces:
    - name: Weights
      projection: [[[C]], [[KK]]]
    - name: Inputs
      projection: [[[C]], [[P, strid]], [[Q]]]
    - name: Outputs
      projection: [[[K]], [[P]]]
      read-write: 3
  instance:
    C: -4
    K: 4
    Q: 2
    stride: 0
END
blamed "a problem of Timeloop's" "$folder/t.yaml" '9 11 11 14 16 18 19 '
sed -i 's/dimensions: .*/dimensions: [C, K, C, "4"]/' "$folder/t.yaml"
blamed 'nothing of what refers to its dimensions' "$folder/t.yaml" '4 4 '
cat >"$folder/t.yaml" <<'END'
problem: {shape: cnn-layer, instance: {C: 3, K: 4, R: 1, S: 1, P: 2}}
END
blamed 'bounds that are missing' "$folder/t.yaml" '1 1 '
cat >"$folder/a.json" <<'END'
{"mem_levels": 3,
 "capacity": [[32, 64], -5, 1],
 "access_cost": [[0.03, "a"], 6, -200],
 "paralel_count": [16, 1, 1],
 "precision": 17,
 "replication": 3,
 "memory_partitions": [
 [0, 0, 7],
 [0, 0, 0],
 [0, 0, null]]}
END
blamed 'a machine of theirs: all that is wrong' "$folder/a.json" '2 3 3 4 5 6 8 10 '
sed -i 's/: \[\[32.*/: [64, 5],/; s/17/16/' "$folder/a.json"
blamed 'and nothing of what stands on a wrong list' "$folder/a.json" '2 4 6 '
check 'a schedule of theirs' code 0 "$DSE" check experiments/interstellar/schedules/CK16.json
check 'is told as one' grep -qx "schedule CK16 of Interstellar's authors: OC 16 at level0, IC 16 at level0; take it with --constraints.*" "$folder/out"
cat >"$folder/h.json" <<'END'
{"schedule_hint": {
 "IC": {"level0": {"partitioning_size": 0}},
 "OD": {"level0": {"partitioning_size": 2}},
 "OX": {"level99": {"partitioning_size": 2}}},
 "partition_loops": ["FX",
 "FX"]}
END
blamed 'a schedule with faults' "$folder/h.json" '2 3 4 6 '
check 'a specification comes by a pipe, too' sh -c '"$0" check /dev/stdin <experiments/quickstart.yaml >/dev/null && cat experiments/quickstart.yaml | "$0" check /dev/stdin >/dev/null' "$DSE"
finish

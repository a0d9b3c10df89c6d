# For tests of what follows a running sweep, after tests/dse/checks.sh: one that runs for minutes, and waiting for what it does.
# shellcheck shell=sh
: "${folder:?source tests/dse/checks.sh first}"
# 400 points of some tenths of a second
cat >"$folder/long.yaml" <<'YAML'
experiment: long
architecture: simba
network: resnet50
layers: [conv2_0_a]
engine: random
options: {search_size: 0}
limits: {max_evaluations: 100000}
axes:
  batch: [1, 2]
  seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
  DRAM.bandwidth: [10 GB/s, 20 GB/s, 30 GB/s, 40 GB/s, 50 GB/s, 60 GB/s, 70 GB/s, 80 GB/s, 90 GB/s, 100 GB/s]
YAML
# until_ SECONDS COMMAND...: the command succeeds within so long
until_() {
    left=$((5 * $1))
    shift
    while [ "$left" -gt 0 ]; do
        "$@" >/dev/null 2>&1 && return 0
        left=$((left - 1))
        sleep 0.2
    done
    echo "never: $*"
    return 1
}

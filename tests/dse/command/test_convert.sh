#!/bin/sh
# dse convert: the table in three formats, the file, and what is wrong use.
# Tests: command_convert.c.
set -u
: "${DSE:?set DSE to the program}"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
small=tests/known/onnx/small
n=0 bad=0

# says NAME CODE WORDS COMMAND...: the exit code, and words in what it prints
says() {
    name=$1 code=$2 words=$3
    shift 3
    n=$((n + 1))
    "$DSE" "$@" >"$folder/said" 2>&1
    got=$?
    if [ $got != "$code" ] || ! grep -qF -- "$words" "$folder/said"; then
        echo "not ok: $name: exit code $got instead of $code, or no \"$words\" in"
        cat "$folder/said"
        bad=$((bad + 1))
    fi
}

says 'a table' 0 'a graph: every scheduler takes it' convert $small/qdq.onnx
says 'its total' 0 'total                10                 9,472' convert $small/qdq.onnx
says 'a quantised one' 0 "a machine's words hold for all tensors" convert $small/qlinear.onnx
says 'csv' 0 'DequantizeLinear,4,0,0,4,0,0,0' convert $small/qdq.onnx -f csv
says 'json' 0 '"kind": "graph"' convert $small/qdq.onnx --format json
says 'a list' 0 'the first in the way of a graph is node lstm (LSTM)' convert $small/lstm.onnx
says 'the table of what is refused' 2 'FooBar        2                     0     0       0                0         0        2' convert $small/unknown.onnx
says 'no file without -o' 0 'total' convert $small/qdq.onnx
says 'a file' 0 'total' convert $small/qdq.onnx -o "$folder/qdq.yaml"
says 'it is a network' 0 'network qdq' check "$folder/qdq.yaml"
says 'a value of a free dimension is a number in the file' 0 'total' convert $small/free.onnx --set network.seq_len=32 -o "$folder/free.yaml"
says 'it needs none any more' 0 'network free: 8 layers' check "$folder/free.yaml"
says 'an unknown parameter' 2 'seq_len' convert $small/free.onnx --set network.seq_len=32 --set network.seq_length=3
says 'no number' 2 'a whole number from 1 to 16777216 is expected, not many' convert $small/free.onnx --set network.seq_len=many
says 'a parameter of a machine' 2 'a parameter of the network is expected' convert $small/free.onnx --set DRAM.bandwidth=1
says 'no ONNX' 2 'whose name ends in .onnx' convert resnet50
says 'no file' 2 'cannot be opened' convert "$folder/nosuch.onnx"
says 'what is ignored needs a shape' 2 'the model does not say the shape of its result b' convert $small/unknown.onnx --ignore FooBar --ignore Baz
says 'ignored' 0 'FooBar        1                     0     0       1' convert $small/ignored.onnx --ignore FooBar

echo "$n checks, $bad failed"
[ $bad = 0 ]

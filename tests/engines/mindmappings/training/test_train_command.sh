#!/bin/sh
# dse train: the same bytes for any number of threads and after three kills, of data and model; what is asked for wrongly is refused in
# one sentence; both presets and both algorithms work. Tests: train_command.c, mm_train.c, mm_keeper.c, mm_preset.c,
# mm_trial.c.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

train() {
    "$DSE" train mindmappings_banks "$@"
}
# kill_when FILE BYTES ARGUMENT...: kill -9 a training as soon as FILE has more than so many bytes
kill_when() {
    file=$1 bytes=$2
    shift 2
    "$DSE" train mindmappings_banks "$@" >/dev/null 2>&1 &
    pid=$!
    while kill -0 $pid 2>/dev/null; do
        size=$(stat -c %s "$file" 2>/dev/null || echo 0)
        [ "$size" -le "$bytes" ] || break
        sleep 0.02
    done
    kill -9 $pid && ! wait $pid
}
# says WORDS COMMAND...: exit code 2, and these words in one line of a message
says() {
    words=$1
    shift
    code 2 "$@" || return 1
    grep -q -- "$words" "$folder/err" && [ "$(wc -l <"$folder/err")" -eq 1 ] || {
        cat "$folder/err"
        return 1
    }
}
model_says() {
    "${PYTHON:-python3}" - "$1" <<'END'
import sys
import h5py
with h5py.File(sys.argv[1]) as file:
    assert file.attrs["algorithm"] == "cnn" and file.attrs["mode"] == "autobypass", dict(file.attrs)
    assert list(file["net_0/width"][:]) == [62, 256, 256, 256, 12]
    assert file["net_0/train_loss"].shape == (2,) and file["net_0/test_loss"][1] < file["net_0/test_loss"][0]
    assert 0.3 < file["net_0"].attrs["spearman"] < 1
    assert file["input_mean"].shape == (62,) and (file["output_deviation"][:] > 0).all()
END
}

short="--samples 21000 --epochs 2 --nets 2"
for threads in 1 2 7; do
    # shellcheck disable=SC2086
    check "$threads threads" code 0 train $short -j $threads -o "$folder/$threads.h5" --data "$folder/data$threads.h5"
    check "the model of $threads threads" cmp "$folder/1.h5" "$folder/$threads.h5"
    check "the data of $threads threads" cmp "$folder/data1.h5" "$folder/data$threads.h5"
done
check 'the model holds what it should' model_says "$folder/1.h5"
check 'nothing unfinished is left' test ! -e "$folder/1.h5.part" -a ! -e "$folder/data1.h5.part"

again="$short -j 2 -o $folder/k.h5 --data $folder/kd.h5"
# shellcheck disable=SC2086
{
    check 'killed while drawing' kill_when "$folder/kd.h5.part" 1000000 $again
    check 'killed in the first epoch' kill_when "$folder/k.h5.part" 0 $again
    check 'killed in the second network' kill_when "$folder/k.h5.part" 4500000 $again
    check 'the same command goes on' code 0 train $again
}
check 'the model after three kills' cmp "$folder/1.h5" "$folder/k.h5"
check 'the data after three kills' cmp "$folder/data1.h5" "$folder/kd.h5"
# shellcheck disable=SC2086
check 'once more: it is there already' code 0 train $again
check 'and says so' grep -q 'trained by the same command' "$folder/out"
# shellcheck disable=SC2086
check 'its losses' code 0 train $again --rows epochs -f csv
check 'of two epochs of two networks' test "$(cut -d, -f1,3 "$folder/out" | tr '\n' ' ')" = 'network,epochs 1,1 1,2 2,1 2,2 '
# shellcheck disable=SC2086
check 'its networks' code 0 train $again -f csv
check 'have all columns' test "$(tail -n 1 "$folder/out" | tr -dc , | wc -c)" -eq 9

check 'the recipe of the paper' code 0 train --preset paper --samples 1000 --epochs 1 -o "$folder/p.h5" -j 2
check 'is that of the paper' grep -q 'inputs raw, outputs ratio; layers 64 256 1024 2048 2048 1024 256 64; loss huber; sgd momentum 0.9' \
    "$folder/out"
check 'MTTKRP, all tiles fit' code 0 "$DSE" train mindmappings_mttkrp_banks --samples 2000 --epochs 1 -m mustfit -o "$folder/m.h5"
check 'problems of a network' code 0 train -p mindmappings_resnet_conv4 --samples 2000 --epochs 1 --loss mse -o "$folder/n.h5"

check 'without a place for the model' says 'where to? -o MODEL.h5' train
check 'an unknown preset' says 'preset large is unknown; it is one of: small, paper' train -o x.h5 --preset large
check 'unknown rows' says 'one of: nets, epochs' train -o x.h5 --rows all
check 'an unknown format' says '--format xml: accepted are table, csv, json' train -o x.h5 --format xml
check 'an unknown mode' says 'one of: autobypass, mustfit' train -o x.h5 --mode fit
check 'no samples' says 'samples 0: a whole number from 1000' train -o x.h5 --samples 0
check 'problems of another algorithm' says 'mindmappings_banks is a machine for cnn' train -o x.h5 -p mttkrp
check 'another machine' says . "$DSE" train simba -o "$folder/x.h5"
check 'data of another mode' says 'data of mode autobypass, and mustfit' train -o "$folder/x.h5" -d "$folder/data1.h5" -m mustfit
check 'more samples than there are' says 'holds 21000 samples, and 1000000 are' train -o "$folder/x.h5" -d "$folder/data1.h5"
mkdir "$folder/none"
: >"$folder/none/libopenblas.so.0"
check 'no OpenBLAS' says 'OpenBLAS, which neural networks need' env LD_LIBRARY_PATH="$folder/none" "$DSE" train mindmappings_banks \
    -o "$folder/x.h5"
check 'which nothing else needs' code 0 env LD_LIBRARY_PATH="$folder/none" "$DSE" list engines
echo 'my thesis' >"$folder/thesis.h5"
check 'a file that is no model is not written over' says 'not an HDF5 file' train --samples 1000 --epochs 1 -o "$folder/thesis.h5"
check 'nor one that is no data' says 'not an HDF5 file' train --samples 1000 -d "$folder/thesis.h5" -o "$folder/x.h5"
check 'nor one in the way of unfinished work' sh -c "cp '$folder/thesis.h5' '$folder/y.h5.part'"
check 'which is told' says 'not a file of unfinished work' train --samples 1000 --epochs 1 -o "$folder/y.h5"
finish

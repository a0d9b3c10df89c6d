#!/bin/sh
# Tests: list_eval.c. Lists of uops through `dse eval ARCH LIST.csv`: columns by name in any order, a row each, and what is refused with its line.
# Cycles: tests/known/klotski/maestro.csv.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

says() {
    grep -qF -e "$1" "$folder/err"
}
list() { # the lines of a list, then its report as CSV
    printf '%s\n' "$@" > "$folder/list.csv"
    code 0 "$DSE" eval klotski "$folder/list.csv" -f csv
}
refused() { # what is said, then the lines
    words="$1"
    shift
    printf '%s\n' "$@" > "$folder/list.csv"
    code 2 "$DSE" eval klotski "$folder/list.csv" -f csv && says "$words" && test ! -s "$folder/out"
}

check 'a list' list 'K,C,name,P,Q,R,S' '# the classifier of GoogLeNet' '1000,1024,"fc, whole",1,1,1,1' '' '28,72,x,1,1,1,1'
check 'has the columns of MAESTRO' grep -qx 'row,R,S,stride,P,Q,C,K,macs,runtime,utilisation,input_l1_read,input_l1_write,'\
'input_l2_read,input_l2_write,filter_l1_read,filter_l1_write,filter_l2_read,filter_l2_write,output_l1_read,output_l1_write,'\
'output_l2_read,output_l2_write,l2_req,l1_req,energy_j' "$folder/out"
check 'and a row each' test "$(wc -l < "$folder/out")" = 3
check 'by the columns of their names' grep -q '^0,1,1,1,1,1,1024,1000,1024000,12386,' "$folder/out"
check 'the machine is as it is told' code 0 "$DSE" eval klotski "$folder/list.csv" -f csv --set 'SRAM.bandwidth=1000 word/cycle'
check 'and takes the cycles of that' grep -q '^0,1,1,1,1,1,1024,1000,1024000,12385,' "$folder/out"
check 'people get a table' code 0 "$DSE" eval klotski "$folder/list.csv"
check 'with cycles' grep -q '12,386' "$folder/out"
check 'a stride' list 'R,S,P,Q,C,K,stride' '3,3,7,7,12,14,2'
check 'brings more inputs' grep -q '^0,3,3,2,7,7,12,14,74088,' "$folder/out"

check 'a column that is missing' refused 'list.csv:1: the header has no column K' 'R,S,P,Q,C' '1,1,1,1,1'
check 'a column twice' refused 'list.csv:1: the header has column C twice' 'R,S,P,Q,C,K,C' '1,1,1,1,1,1,1'
check 'a zero' refused 'list.csv:3: P is "0"; it is a whole number from 1 to 4294967295' 'R,S,P,Q,C,K' '1,1,1,1,1,1' '1,1,0,1,1,1'
check 'a fraction' refused 'Q is "1.5"' 'R,S,P,Q,C,K' '1,1,1,1.5,1,1'
check '2^32' refused 'K is "4294967296"' 'R,S,P,Q,C,K' '1,1,1,1,1,4294967296'
check 'no number' refused 'C is "many"' 'R,S,P,Q,C,K' '1,1,1,1,many,1'
check 'a short line' refused 'list.csv:2: 5 fields, the header has 6' 'R,S,P,Q,C,K' '1,1,1,1,1'
check 'counts beyond 2^53' refused 'divide it' 'R,S,P,Q,C,K' '9,9,1000000,1000000,1000000,9'
check 'a header alone' refused 'there is no uop in this file' 'R,S,P,Q,C,K'
check 'nothing' refused 'there is no uop in this file' ''
check 'another machine' code 2 "$DSE" eval simba "$folder/list.csv"
check 'is none of accelerators' says 'simba is no mesh of accelerators for uops'
check 'an accounting without lists' code 2 "$DSE" eval klotski "$folder/list.csv" -a timeloop
check 'says so' says 'accounting timeloop prices no lists'
check 'options of mappings' code 2 "$DSE" eval klotski "$folder/list.csv" --batch 2
check 'are refused' says '--batch does not go with a list'
finish

#!/bin/sh
# Files of vectors: headers, comments, orders both ways, and mistakes with the line they are in.
set -u
# shellcheck source=tests/dse/checks.sh
. tests/dse/checks.sh

says() {
    grep -qF -e "$1" "$folder/err"
}
file="$folder/vectors.csv"
eval_file() {
    "$DSE" eval mindmappings_mttkrp_banks --vectors "$file" -f csv "$@"
}
# I = J = K = L = 2, all at the DRAM; worked by hand in tests/engines/mindmappings/test_mm_price.c.
one=2,2,2,2,2,2,2,2,1,1,1,1,1,1,1,1,1,1,1,1,0,1,2,3,0,1,2,3,0,1,2,3,4,4,4,4,4,4,4,4
# Places 1 2 0 3 in the first order are dimensions 2 0 1 3.
places=$(echo "$one" | sed 's/0,1,2,3/1,2,0,3/')
dims=$(echo "$one" | sed 's/0,1,2,3/2,0,1,3/')

printf '# a comment\r\n\r\nI,J,K,L\r\n%s\r\n\n%s' "$one" "$places" >"$file"
check 'comments, empty lines and a header are skipped' code 0 eval_file
check 'rows know their lines' test "$(cut -d, -f1,2 "$folder/out" | tr '\n' ' ')" = 'line,member 4,1 6,1 '
check 'the cost is that worked by hand' grep -q '^4,1,,.*,0\.0123792,16,' "$folder/out"
printf '%s\n' "$places" >"$file"
check 'orders as places' code 0 eval_file
cut -d, -f4- "$folder/out" >"$folder/as_places"
printf '%s\n' "$dims" >"$file"
check 'orders as dimensions' code 0 eval_file --orders dims
cut -d, -f4- "$folder/out" >"$folder/as_dims"
check 'are the same mapping' cmp -s "$folder/as_places" "$folder/as_dims"
check 'are not the same as places' code 0 eval_file
check 'so they cost otherwise' sh -c "! cut -d, -f4- '$folder/out' | cmp -s - '$folder/as_places'"

printf 'name,mode,"40 mapping values (orders as dimension indices)",note\nx,mustfit,%s,n\n' "$dims" >"$file"
check 'a header says where the values are' code 0 eval_file
cut -d, -f4- "$folder/out" >"$folder/by_header"
check 'and how orders are written' cmp -s "$folder/as_dims" "$folder/by_header"
check 'an option says more than the header' code 0 eval_file --orders places
check 'otherwise' sh -c "! cut -d, -f4- '$folder/out' | cmp -s - '$folder/as_dims'"
printf 'name,mode,"40 mapping values"\nx,mustfti,%s\n' "$one" >"$file"
check 'a mode that there is not' code 2 eval_file
check 'is told with its line' says 'vectors.csv:2: there is no mode "mustfti"'
printf 'name,"40 mapping values"\nx,1,2,3\n' >"$file"
check 'a line shorter than the header says' code 2 eval_file
check 'is told' says 'vectors.csv:2: 4 columns, the header has 40 values from column 2 on'

# 2.2 and 1.9 are nearest to 2, 0.9 to 1; as logarithms 1.2 and 0.9 to 2, -0.3 to 1.
printf '%s\n' "$one" | sed 's/^2,2,2,2,2,2,2,2,1,1/2,2,2,2,2.2,1.9,2,3,0.9,1/; s/0,1,2,3/-1.5,0.1,0.2,9/' >"$file"
check 'real numbers' code 0 eval_file --project raw
check 'become the nearest mapping' grep -q '^1,1,,.*,0\.0123792,16,' "$folder/out"
check 'without, they are none' code 2 eval_file
check 'and say so' says 'value 5, a factor, is 2.2'
printf '%s\n' "$one" | sed 's/^2,2,2,2,2,2,2,2,1,1,1,1,1,1,1,1,1,1,1,1/2,2,2,2,1.2,1,1,0.9,-0.3,0,0,0,0,0,0,0,0,0,0,0/' >"$file"
check 'by logarithms' code 0 eval_file --project log2
check 'too' grep -q '^1,1,,.*,0\.0123792,16,' "$folder/out"
check 'orders as dimensions' code 2 eval_file --project raw --orders dims
check 'have no distance' says '--project takes orders as places'

# What is no vector: the sentence, then the line as an edit of the good one.
wrong() {
    printf '%s\n' "$one" >"$file"
    printf '%s\n' "$one" | sed "$2" >>"$file"
    check "refused: $1" code 2 eval_file
    check "with line and reason: $1" says "vectors.csv:2: $1"
    check "and no rows: $1" test ! -s "$folder/out"
}
wrong 'value 5, "nan", is not a number' 's/^2,2,2,2,2/2,2,2,2,nan/'
wrong 'value 5, "inf", is not a number' 's/^2,2,2,2,2/2,2,2,2,inf/'
wrong 'value 5, "1e999", is not a number' 's/^2,2,2,2,2/2,2,2,2,1e999/'
wrong 'value 5, "two", is not a number' 's/^2,2,2,2,2/2,2,2,2,two/'
wrong 'value 5, "", is not a number' 's/^2,2,2,2,2/2,2,2,2,/'
wrong 'value 5, a factor, is 1.5; it must be a whole number of 1 or more' 's/^2,2,2,2,2/2,2,2,2,1.5/'
wrong 'the factors of I multiply to 4, its size is 2' 's/^2,2,2,2,2/2,2,2,2,4/'
wrong '39 values, a vector of mindmappings_mttkrp_banks (mttkrp) has 40' 's/,4$//'
wrong '41 values, a vector of mindmappings_mttkrp_banks (mttkrp) has 40' 's/$/,4/'
wrong '62 values are a vector of cnn, and mindmappings_mttkrp_banks is a machine for mttkrp' \
    's/$/,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4,4/'
many=$(python3 -c 'print("," + ",".join(["1"] * 300))')
wrong '340 values, a vector of Mind Mappings has at most 62' "s/\$/$many/"
wrong 'value 1, "# 2"' 's/^/x/; s/^x2/"# 2"/'
printf '# nothing\n' >"$file"
check 'a file without vectors' code 2 eval_file
check 'says so' says 'there is no vector in this file'
check 'a file that is not there' code 2 "$DSE" eval mindmappings_banks --vectors "$folder/none.csv"
printf '%s\n' "$one" | sed 's/4,4,4,4$/4,4,4,5/' >"$file"
check 'a share that adds up to more' code 0 eval_file
check 'is no member, and says why' grep -q '^1,0,"\{0,1\}17 banks of PrivateBuffer are dealt out, it has 16' "$folder/out"
finish

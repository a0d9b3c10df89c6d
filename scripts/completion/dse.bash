# bash completion for dse. Commands, options and names are asked of the program itself, so nothing here can be out of date
# but the values of a few options.

# The commands, from `dse --help`.
_dse_commands() {
    "$1" --help 2>/dev/null | awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'
}

# The options of command $2, from its help, one per line: "--jobs N -j", "--fresh - -". A dash stands for no value, no letter.
_dse_options() {
    "$1" "$2" --help 2>/dev/null | awk '
        /^  -[A-Za-z], --/ || /^      --/ {
            letter = "-"
            i = 1
            if ($1 ~ /^-.,$/) { letter = substr($1, 1, 2); i = 2 }
            # two blanks or the end of the line come after the placeholder of a value
            rest = substr($0, index($0, $i) + length($i))
            value = match(rest, /^ [^ ]/) ? $(i + 1) : "-"
            sub(/\[=.*/, "", $i) # a value that may lack
            print $i, value, letter
        }'
}

# The words that option $3 of command $2 takes, where its help lists them: one per line below the option, indented further.
_dse_choices() {
    "$1" "$2" --help 2>/dev/null | awk -v option="$3" '
        /^  -[A-Za-z], --/ || /^      --/ { on = $1 == option || $2 == option }
        on && match($0, /^ *[a-z]/) && RLENGTH == 31 { print $1 }'
}

# The first column of `dse list WHAT` below its header and rule.
_dse_names() {
    "$1" list "$2" 2>/dev/null | awk 'NR > 2 { print $1 }'
}

# The layers of network $2 that a mapper maps.
_dse_layers() {
    "$1" list layers "${2/#\~/$HOME}" 2>/dev/null | awk 'NR > 2 && $4 != "-" { print $1 }'
}

# The option names of an engine, as NAME=
_dse_engine_options() {
    "$1" list engine "$2" 2>/dev/null | awk 'on && /^  [a-z]/ { print $1 "=" } /^---/ { on = 1 }'
}

# The value that was given for one of the options $1 ..., or nothing.
_dse_given() {
    local i name
    for ((i = 2; i < COMP_CWORD; i++)); do
        for name in "$@"; do
            if [[ ${COMP_WORDS[i]} == "$name" ]]; then
                [[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++))
                echo "${COMP_WORDS[i + 1]}"
                return
            fi
        done
    done
}

# The metrics of the result file on the line: the header of the table beside it.
_dse_columns() {
    local word
    for word in "${COMP_WORDS[@]:2}"; do
        [[ $word == *.h5 && -r ${word%.h5}.csv ]] && head -n 1 "${word%.h5}.csv" | tr ',' '\n'
    done
}

_dse_reply() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# Files, and names (in $1) beside them.
_dse_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2"; compgen -f -- "$2")
}

# The values of long option $2 of command $1.
_dse_value() {
    local command=$1 option=$2 word=$3 program=$4 engine
    case $command$option in
        *--accounting) _dse_reply "$(_dse_names "$program" accountings)" "$word" ;;
        *--engine) _dse_reply "$(_dse_names "$program" engines)" "$word" ;;
        *--objective) _dse_reply 'latency energy edp ed2p' "$word" ;;
        map--format) _dse_reply 'table yaml csv json vector' "$word" ;;
        status--format) _dse_reply 'table json csv' "$word" ;;
        watch--format) _dse_reply 'table json' "$word" ;;
        *--by | plot--color | plot--winner) _dse_reply "$(_dse_columns | sed '/^status$/,$d')" "$word" ;;
        eval--format | list--format | pareto--format) _dse_reply 'table csv json' "$word" ;;
        list--architecture) _dse_files "$(_dse_names "$program" architectures)" "$word" ;;
        list--network) _dse_files "$(_dse_names "$program" networks)" "$word" ;;
        *--report) _dse_reply "$(_dse_names "$program" reports)" "$word" ;;
        *--core) _dse_reply 'auto descent cosa cosa-best random hybrid annealing genetic array quick' "$word" ;;
        eval--mode | sample--mode | train--mode) _dse_reply 'autobypass mustfit' "$word" ;;
        eval--orders) _dse_reply 'places dims' "$word" ;;
        eval--project) _dse_reply 'no raw log2' "$word" ;;
        sample--draw) _dse_reply 'construct primes vectors' "$word" ;;
        train--preset) _dse_reply 'small paper' "$word" ;;
        train--loss) _dse_reply 'huber mse mae' "$word" ;;
        train--problems) _dse_files "cnn mttkrp $(_dse_names "$program" networks)" "$word" ;;
        *--measure) _dse_reply 'noc cosa noc,cosa' "$word" ;;
        *--metric | pareto--min | pareto--max) _dse_reply "$(_dse_columns)" "$word" ;;
        map--layer) _dse_reply "$(_dse_layers "$program" "${operands[1]:-}")" "$word" ;;
        map--option)
            engine=$(_dse_given --engine -e)
            compopt -o nospace 2>/dev/null
            _dse_reply "$(_dse_engine_options "$program" "${engine:-descent}")" "$word" ;;
        plot--arch) _dse_files "$(_dse_names "$program" architectures)" "$word" ;;
        plot--network) _dse_files "$(_dse_names "$program" networks)" "$word" ;;
        *--output | *--vectors | *--data | *--log-json | *--ert | *--art | *--constraints | *--timeline) _dse_files '' "$word" ;;
        *) _dse_reply "$(_dse_choices "$program" "$command" "$option")" "$word" ;;
    esac
}

# Operand number $2 of command $1.
_dse_operand() {
    local command=$1 number=$2 word=$3 program=$4
    case $command:$number in
        list:1) _dse_reply "$("$program" list --help 2>/dev/null |
            awk 'NR == 1 { sub(/^.*\]\.\.\. /, ""); gsub(/ [A-Z]+/, ""); gsub(/\|/, " "); print }')" "$word" ;;
        list:2) [[ ${COMP_WORDS[COMP_CWORD - 1]} == engine?(s) ]] &&
            _dse_reply "$(_dse_names "$program" engines)" "$word"
            [[ ${COMP_WORDS[COMP_CWORD - 1]} == layers ]] && _dse_files "$(_dse_names "$program" networks)" "$word" ;;
        sample:3) _dse_reply "$(_dse_layers "$program" "${operands[1]:-}")" "$word" ;;
        map:1 | eval:1 | sample:1 | calibrate:1 | train:1) _dse_files "$(_dse_names "$program" architectures)" "$word" ;;
        run:1 | check:1 | slurm:1) _dse_files "$(_dse_names "$program" experiments)" "$word" ;;
        map:2 | eval:2 | sample:2) _dse_files "$(_dse_names "$program" networks)" "$word" ;;
        *) _dse_files '' "$word" ;;
    esac
}

_dse() {
    local program=${1/#\~/$HOME} word=$2 command=${COMP_WORDS[1]:-} before=${COMP_WORDS[COMP_CWORD - 1]}
    local options name value letter valued=' ' option='' i
    local -a operands=()
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        _dse_reply "$(_dse_commands "$program") --help --version" "$word"
        return
    fi
    options=$(_dse_options "$program" "$command")
    # bash takes "--format=csv" for three words
    [[ $word == '=' ]] && word=''
    [[ $before == '=' ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
    [[ ${COMP_WORDS[COMP_CWORD]} == '=' ]] && before=${COMP_WORDS[COMP_CWORD - 1]}
    while read -r name value letter; do
        [[ $value == - ]] && continue
        valued+="$name $letter "
        [[ $before == "$name" || $before == "$letter" ]] && option=$name
    done <<<"$options"
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            = | -*=*) ;;
            -*)
                if [[ $valued == *" ${COMP_WORDS[i]} "* ]]; then
                    [[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++))
                    ((i++))
                fi ;;
            *) operands+=("${COMP_WORDS[i]}") ;;
        esac
    done
    if [[ -n $option ]]; then
        _dse_value "$command" "$option" "$word" "$program"
        return
    fi
    if [[ $word == -* ]]; then
        _dse_reply "$(awk '{ print $1 }' <<<"$options")" "$word"
        return
    fi
    _dse_operand "$command" "$((${#operands[@]} + 1))" "$word" "$program"
}
complete -F _dse dse

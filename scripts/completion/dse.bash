# bash completion for dse
_dse() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]:-}
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'run eval map list plot merge status check --help --version' -- "$word")
        return
    fi
    case $before in
        --engine) mapfile -t COMPREPLY < <(compgen -W "$(dse list engines 2>/dev/null | awk '{ print $1 }')" -- "$word"); return ;;
        --objective) mapfile -t COMPREPLY < <(compgen -W 'latency energy edp' -- "$word"); return ;;
        --format) mapfile -t COMPREPLY < <(compgen -W 'table csv json' -- "$word"); return ;;
        --report) mapfile -t COMPREPLY < <(compgen -W 'levels networks summary' -- "$word"); return ;;
        -j | --shard | --set | --seed | --layer) return ;;
    esac
    if [[ $word == -* ]]; then
        local options=--help
        case $command in
            run) options='-o -j --shard --fresh --dry-run --set --help' ;;
            eval) options='--format --report --help' ;;
            map) options='--engine --objective --seed --layer --help' ;;
            plot) options='-o --help' ;;
        esac
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    elif [[ $command == list ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'engines architectures networks experiments' -- "$word")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -F _dse dse

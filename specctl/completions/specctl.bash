# Tab completion of specctl for bash; `specctl completion bash` prints it.
_specctl() {
    local IFS=$'\n' word kind line
    local current="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=()
    [[ $current == [=:] ]] && current=""
    while IFS= read -r line; do
        word=${line%%$'\t'*}
        kind=${line#*$'\t'}
        if [[ -n $word ]]; then
            COMPREPLY+=("$word")
            [[ $word == *= ]] && compopt -o nospace 2>/dev/null
        elif [[ $kind == file ]]; then
            compopt -o filenames 2>/dev/null
            COMPREPLY+=($(compgen -f -- "$current" 2>/dev/null))
        elif [[ $kind == dir ]]; then
            compopt -o filenames 2>/dev/null
            COMPREPLY+=($(compgen -d -- "$current" 2>/dev/null))
        fi
    done < <(command "${COMP_WORDS[0]}" __complete bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    return 0
}
complete -F _specctl specctl

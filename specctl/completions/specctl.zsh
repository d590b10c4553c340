#compdef specctl
# Tab completion of specctl for zsh; `specctl completion zsh` prints it.
_specctl() {
    local line word note
    local -a plain shown
    local want_files=0 want_dirs=0
    while IFS= read -r line; do
        word=${line%%$'\t'*}
        note=${line#*$'\t'}
        if [[ -n $word ]]; then
            plain+=("$word")
            shown+=("$word${note:+  -- $note}")
        elif [[ $note == file ]]; then
            want_files=1
        elif [[ $note == dir ]]; then
            want_dirs=1
        fi
    done < <(command "${(Q)words[1]}" __complete zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    (( $#plain )) && compadd -l -d shown -a plain
    (( want_files )) && _files
    (( want_dirs )) && _files -/
    return 0
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
    _specctl "$@"
elif (( $+functions[compdef] )); then
    compdef _specctl specctl
else
    autoload -Uz compinit && compinit -u && compdef _specctl specctl
fi

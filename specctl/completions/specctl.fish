# Tab completion of specctl for fish; `specctl completion fish` prints it.
function __specctl_complete
    set -l done (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $done[1] __complete fish -- $done[2..-1] "$current" 2>/dev/null)
        switch $line
            case \t'file'
                __fish_complete_path "$current"
            case \t'dir'
                __fish_complete_directories "$current"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete --command specctl --no-files --arguments '(__specctl_complete)'

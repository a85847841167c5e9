extension TypedLine.Shell {
    /// The script that completes `elemental` in the shell.
    ///
    /// The answers contain names from the network, which no shell may expand. bash inserts an answer as it is, so
    /// answers for bash are quoted; zsh and fish quote what they insert.
    var completionScript: String {
        switch self {
        case .bash:
            #"""
            # bash completion for elemental

            _elemental() {
                local -a answer
                mapfile -t answer < <(command elemental ---complete bash "${COMP_LINE:0:COMP_POINT}" "$2" </dev/null 2>/dev/null)
                COMPREPLY=("${answer[@]:1}")
                case ${answer[0]-} in
                beginnings) compopt -o nospace ;;
                files) compopt -o default -o filenames ;;
                esac
            }
            complete -F _elemental elemental
            """#
        case .zsh:
            #"""
            #compdef elemental
            # zsh completion for elemental

            _elemental() {
                local -a answer
                local typed="${(j: :)words[1,CURRENT-1]} $QIPREFIX$IPREFIX$PREFIX"
                answer=("${(@f)$(command elemental ---complete zsh "$typed" </dev/null 2>/dev/null)}")
                case ${answer[1]-} in
                words) compadd -- "${(@)answer[2,-1]}" ;;
                beginnings) compadd -S '' -- "${(@)answer[2,-1]}" ;;
                files) _files ;;
                *) return 1 ;;
                esac
            }
            if [[ $funcstack[1] == _elemental ]]; then
                _elemental "$@"
            else
                compdef _elemental elemental
            fi
            """#
        case .fish:
            #"""
            # fish completion for elemental

            function __elemental_complete
                set -l answer (command elemental ---complete fish (commandline -cp | string collect) </dev/null 2>/dev/null)
                if test "$answer[1]" = files
                    __fish_complete_path (commandline -ct)
                else if test (count $answer) -gt 1
                    printf '%s\n' $answer[2..]
                end
            end
            complete -c elemental -f -a '(__elemental_complete)'
            """#
        }
    }
}

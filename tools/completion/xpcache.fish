# SPDX-License-Identifier: GPL-2.0-only
# fish completion for xpcache, which knows itself what could stand at the cursor: tools/completion.c.

function __xpcache_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] completion words -- $words[2..-1] 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end

complete -c xpcache -f -a "(__xpcache_complete)"

# fish completion for cardpoll. Load it with: cardpoll completion fish | source
function __cardpoll_complete
  set -l current (commandline -ct)
  for line in (cardpoll complete -- (commandline -opc)[2..-1] "$current" 2>/dev/null)
    if test "$line" = :files
      # The file may be the value of --option=.
      set -l option (string match -r -- '^--[^=]*=' $current)
      printf '%s\n' "$option"(__fish_complete_path (string replace -r -- '^--[^=]*=' '' $current))
    else
      printf '%s\n' $line
    end
  end
end
complete -c cardpoll -f -a '(__cardpoll_complete)'

#compdef cardpoll
# zsh completion for cardpoll. Load it with: source <(cardpoll completion zsh)
_cardpoll() {
  local line files= tab=$'\t'
  local -a candidates
  for line in "${(@f)$(cardpoll complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=1 ;;
      *) candidates+=("${${line%%$tab*}//:/\\:}:${line#*$tab}") ;;
    esac
  done
  if (( ${#candidates} )); then
    _describe -t cardpoll cardpoll candidates
  elif [[ -n $files ]]; then
    compset -P '--*='
    _files
  fi
}
# Sourced, it registers itself; from a directory of $fpath it is the body of the function.
if [[ ${funcstack[1]} == _cardpoll ]]; then
  _cardpoll "$@"
else
  (( ${+functions[compdef]} )) || { autoload -Uz compinit && compinit -u; }
  compdef _cardpoll cardpoll
fi

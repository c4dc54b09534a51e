# bash completion for cardpoll. Load it with: source <(cardpoll completion bash)
_cardpoll() {
  local current=${COMP_WORDS[COMP_CWORD]} word meaning
  COMPREPLY=()
  # --option=value is three words here.
  [[ $current != = ]] || current=
  local typed=${current#[\"\']}
  while IFS=$'\t' read -r word meaning; do
    if [[ $word == :files ]]; then
      compopt -o default 2>/dev/null
    elif [[ $word == "${typed//\\/}"* ]]; then
      # Between quotes a name stands as it is, so one that the shell would read otherwise is not offered there.
      [[ $current != [\"\']* || $word != *[\$\`\"\'\\]* ]] || continue
      # Names may hold blanks.
      [[ $current == [\"\']* ]] || printf -v word %q "$word"
      COMPREPLY+=("$word")
    fi
  done < <(cardpoll complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _cardpoll cardpoll

# SPDX-License-Identifier: Apache-2.0
# Completion of taproot for bash. Written by generate.py.
_taproot() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} options=""
  case $command:$before in
    *:--root)
      mapfile -t COMPREPLY < <(compgen -W "single multi" -- "$word")
      return ;;
    *:--device)
      mapfile -t COMPREPLY < <(compgen -W "cpu cuda" -- "$word")
      return ;;
    show:--format)
      mapfile -t COMPREPLY < <(compgen -W "text svg" -- "$word")
      return ;;
    *:--format)
      mapfile -t COMPREPLY < <(compgen -W "jsonl npz conllu text" -- "$word")
      return ;;
    swor:--algorithm)
      mapfile -t COMPREPLY < <(compgen -W "auto trie beam list" -- "$word")
      return ;;
    *:--algorithm)
      mapfile -t COMPREPLY < <(compgen -W "auto elimination wilson wilson-marginal wilson-reject colbourn wilson-rc" -- "$word")
      return ;;
    *:--color)
      mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$word")
      return ;;
    *:--over)
      mapfile -t COMPREPLY < <(compgen -W "best mean" -- "$word")
      return ;;
  esac
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "logz entropy marginals argmax sample swor kbest mbr edges show report info eval convert --help --version" -- "$word")
    return
  fi
  case $command in
    logz) options="-h --help --root --weights --threads --device --lengths --words --labels --label-scores --force --forbid --roots -o --output --format --sentences --quiet --progress" ;;
    entropy) options="-h --help --root --weights --threads --device --lengths --words --labels --label-scores --force --forbid --roots -o --output --format --sentences --quiet --progress" ;;
    marginals) options="-h --help --root --weights --threads --device --lengths --words --labels --label-scores --force --forbid --roots -o --output --format --sentences --quiet --progress" ;;
    argmax) options="-h --help --root --weights --threads --lengths --words --labels --label-scores --force --forbid --roots -o --output --format --sentences --quiet --progress" ;;
    sample) options="-h --help -k --samples --algorithm --seed --root --weights --threads --device --lengths --ids --words --labels --label-scores --force --forbid --roots -o --output --format --sentences --quiet --progress" ;;
    swor) options="-h --help -k --samples --algorithm --seed --root --weights --threads --device --lengths --ids --words --labels --label-scores --force --forbid --roots -o --output --format --sentences --quiet --progress" ;;
    kbest) options="-h --help -k --samples --root --weights --threads --lengths --words --labels --label-scores --force --forbid --roots -o --output --format --sentences --quiet --progress" ;;
    mbr) options="-h --help --root --weights --threads --lengths --words --labels --label-scores --force --forbid --roots -o --output --format --sentences --quiet --progress" ;;
    edges) options="-h --help --top --root --weights --threads --lengths --words --labels --label-scores --force --forbid --roots -o --output --sentences --quiet --progress" ;;
    show) options="-h --help -k --samples --threshold --marginals --color --width --algorithm --seed --root --weights --threads --lengths --ids --words --labels --label-scores --force --forbid --roots -o --output --format --sentences --quiet --progress" ;;
    report) options="-h --help -k --samples --threshold --floor --title --algorithm --seed --root --weights --threads --lengths --ids --words --labels --label-scores --force --forbid --roots -o --output --sentences --quiet --progress" ;;
    info) options="-h --help --root --weights --threads --lengths --words --labels --label-scores --force --forbid --roots -o --output --sentences --quiet --progress" ;;
    eval) options="-h --help --gold --over" ;;
    convert) options="-h --help -o --output --format --words" ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _taproot taproot

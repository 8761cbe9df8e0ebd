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
    marginals:--format)
      mapfile -t COMPREPLY < <(compgen -W "jsonl npz tsv" -- "$word")
      return ;;
    show:--format)
      mapfile -t COMPREPLY < <(compgen -W "text svg png pdf" -- "$word")
      return ;;
    report:--format)
      mapfile -t COMPREPLY < <(compgen -W "html png pdf" -- "$word")
      return ;;
    logz:--format|entropy:--format)
      mapfile -t COMPREPLY < <(compgen -W "jsonl npz text" -- "$word")
      return ;;
    edges:--format|info:--format)
      mapfile -t COMPREPLY < <(compgen -W "text jsonl" -- "$word")
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
    logz) options="-h --help --root --projective --weights --threads --device --lengths --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    entropy) options="-h --help --root --projective --weights --threads --device --lengths --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    marginals) options="-h --help --threshold --root --projective --weights --threads --device --lengths --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    argmax) options="-h --help --root --projective --weights --threads --device --lengths --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    sample) options="-h --help -k --samples --algorithm --seed --root --projective --weights --threads --device --lengths --ids --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    swor) options="-h --help -k --samples --algorithm --seed --root --projective --weights --threads --device --lengths --ids --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    kbest) options="-h --help -k --samples --root --projective --weights --threads --lengths --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    mbr) options="-h --help --root --projective --weights --threads --device --lengths --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    edges) options="-h --help --top --root --projective --weights --threads --lengths --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    show) options="-h --help -k --samples --threshold --marginals --color --width --algorithm --seed --root --projective --weights --threads --lengths --ids --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    report) options="-h --help -k --samples --threshold --floor --title --algorithm --seed --root --projective --weights --threads --lengths --ids --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
    info) options="-h --help --root --projective --weights --threads --lengths --words --labels --label-scores --force --forbid --roots --constraints -o --output --format --sentences --first-sentence --quiet --progress" ;;
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

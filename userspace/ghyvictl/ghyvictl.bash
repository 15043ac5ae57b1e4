# SPDX-License-Identifier: GPL-2.0-only
# Bash completion for ghyvictl; installed as /usr/share/bash-completion/completions/ghyvictl.

_ghyvictl_uuids() { ghyvictl list 2>/dev/null | awk 'NR > 1 { print $1 }'; }
_ghyvictl_types() { ghyvictl types 2>/dev/null | awk 'NR > 1 { sub(/.*-/, "", $1); print $1 }' | sort -u; }
_ghyvictl_parents() { ghyvictl types 2>/dev/null | awk 'NR > 1 { print $2 }' | sort -u; }

# The settings of the vGPU or pGPU $1, and "setting=value" for each setting that lists its values.
_ghyvictl_settings() {
	ghyvictl show "$1" 2>/dev/null | awk '
		$1 !~ "/" || /\(read-only\)$/ { next }
		{ print $1 "=" }
		/\[/ { for (i = 2; i <= NF; i++) { gsub(/[][]/, "", $i); print $1 "=" $i } }'
}

_ghyvictl() {
	local commands="list types create define show set stat top dump reset remove doctor export report record"
	local common="--json --no-mdevctl --help" command='' words='' word uuid='' line=()
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}

	# Bash splits words at "=" and ":", so split the line here at blanks only.
	current=${COMP_LINE:0:COMP_POINT}
	current=${current##*[[:space:]]}
	read -ra line <<<"${COMP_LINE:0:COMP_POINT - ${#current}}"
	for word in "${line[@]:1}"; do
		case $word in
		-*) ;;
		????????-????-????-????-???????????? | ????:??:??.?) uuid=$word ;;
		*) [ -n "$command" ] || command=$word ;;
		esac
	done

	case $previous in
	-o | --output | --root | --file | --from)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	-p | --parent) words=$(_ghyvictl_parents) ;;
	-m | --policy) words="strict full static dynamic segmented oos adaptive nested" ;;
	-w | --what) words="engines tables audit config" ;;
	-s | -c | -b | -u | -k | -t | --seconds | --timeout | --count | --batch | --uuid | --kernel) return ;;
	*)
		case $command in
		'') words="$commands $common --version" ;;
		create) words="$(_ghyvictl_types) --parent --uuid --policy --set $common" ;;
		define) words="$(_ghyvictl_uuids) $(_ghyvictl_types) --auto --parent --uuid --policy --set $common" ;;
		set)
			if [ -n "$uuid" ]; then words=$(_ghyvictl_settings "$uuid"); else words="$(_ghyvictl_uuids) $(_ghyvictl_parents)"; fi
			words+=" --file $common"
			;;
		stat) words="$(_ghyvictl_uuids) --seconds --count --all $common" ;;
		top) words="--seconds --batch $common" ;;
		dump) words="$(_ghyvictl_uuids) --what $common" ;;
		remove) words="$(_ghyvictl_uuids) --force --timeout $common" ;;
		record) words="$(_ghyvictl_uuids) --output --seconds $common" ;;
		show) words="$(_ghyvictl_uuids) $(_ghyvictl_parents) --attributes $common" ;;
		report) words="$(_ghyvictl_uuids) --output --from --seconds --count --policies $common" ;;
		list | reset) words="$(_ghyvictl_uuids) $common" ;;
		doctor) words="--root --kernel $common" ;;
		export) words="--output --no-mdevctl --help" ;;
		*) words=$common ;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	# The part before "=" is on the line already.
	if [[ $current == *=* ]]; then
		COMPREPLY=("${COMPREPLY[@]#*=}")
	fi
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}

complete -F _ghyvictl ghyvictl

# SPDX-License-Identifier: GPL-2.0-only
# Bash completion for ghyvictl; installed as /usr/share/bash-completion/completions/ghyvictl.

_ghyvictl_uuids() { ghyvictl list -r -n -o UUID 2>/dev/null; }
_ghyvictl_types() { ghyvictl types 2>/dev/null | awk 'NR > 1 { sub(/.*-/, "", $1); print $1 }' | sort -u; }
_ghyvictl_parents() { ghyvictl types 2>/dev/null | awk 'NR > 1 { print $2 }' | sort -u; }

# The settings of the vGPU or pGPU $1, and "setting=value" for each setting that lists its values.
_ghyvictl_settings() {
	ghyvictl show "$1" 2>/dev/null | awk '
		$1 !~ "/" || /\(read-only\)$/ { next }
		{ print $1 "=" }
		/\[/ { for (i = 2; i <= NF; i++) { gsub(/[][]/, "", $i); print $1 "=" $i } }'
}

# The columns of a table; after a comma the next one.
_ghyvictl_columns() {
	local names=${2%"${2##*,}"} all
	all=$(ghyvictl "$1" -b 1 -o . 2>&1 || ghyvictl "$1" -o . 2>&1)
	mapfile -t COMPREPLY < <(compgen -P "$names" -W "$(sed -n 's/.*columns: //p' <<<"$all" | tr , ' ')" -- "${2##*,}")
	compopt -o nospace 2>/dev/null
}

# The settings of vGPUs, for types.
_ghyvictl_all_settings() { ghyvictl show --ranges 2>/dev/null | awk 'NR > 1 && $1 !~ "^ghyvi/" { print $1 "=" }'; }

_ghyvictl() {
	local commands="list ls start stop rm types create define show set stat top dump screenshot reset remove doctor export report record migrate-check silicon-report"
	local common="--json --no-mdevctl --help" table="--output --noheadings --raw" command='' words='' word uuid='' type='' line=()
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}

	# Bash splits words at "=" and ":", so split the line here at blanks only.
	current=${COMP_LINE:0:COMP_POINT}
	current=${current##*[[:space:]]}
	read -ra line <<<"${COMP_LINE:0:COMP_POINT - ${#current}}"
	for word in "${line[@]:1}"; do
		case $word in
		-*) ;;
		????????-????-????-????-???????????? | ????:??:??.?) uuid=$word ;;
		gen*_*) type=$word ;;
		*) [ -n "$command" ] || command=$word ;;
		esac
	done

	case $command:$previous in
	top:-o | top:--output | top:-S | top:--sort | list:-o | list:--output | ls:-o | ls:--output | \
		show:-o | show:--output | stat:-o | stat:--output)
		_ghyvictl_columns "$command" "$current"
		return
		;;
	esac
	case $previous in
	-o | --output | --root | --file | --from)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	-p | --parent) words=$(_ghyvictl_parents) ;;
	--set) words=$(_ghyvictl_all_settings) ;;
	-m | --policy) words="strict full static dynamic segmented oos adaptive relaxed nested" ;;
	-w | --what) words="engines tables audit config error_state" ;;
	-s | -c | -b | -u | -k | -t | --seconds | --timeout | --count | --batch | --uuid | --kernel) return ;;
	*)
		case $command in
		'') words="$commands $common --version" ;;
		create | start) words="$(_ghyvictl_types) --parent --uuid --policy --set $common" ;;
		define) words="$(_ghyvictl_uuids) $(_ghyvictl_types) --auto --manual --replace --parent --uuid --policy --set $common" ;;
		set)
			if [ -n "$type" ]; then
				words=$(_ghyvictl_all_settings)
			elif [ -n "$uuid" ]; then
				words=$(_ghyvictl_settings "$uuid")
			else
				words="$(_ghyvictl_uuids) $(_ghyvictl_parents) $(_ghyvictl_types)"
			fi
			words+=" --file --save --restore $common"
			;;
		stat) words="$(_ghyvictl_uuids) --seconds --count --all $table $common" ;;
		top) words="--seconds --batch --output --sort $common" ;;
		dump) words="$(_ghyvictl_uuids) --what $common" ;;
		remove | stop | rm) words="$(_ghyvictl_uuids) --force --timeout $common" ;;
		screenshot) words="$(_ghyvictl_uuids) --output $common" ;;
		record) words="$(_ghyvictl_uuids) --output --seconds $common" ;;
		show) words="$(_ghyvictl_uuids) $(_ghyvictl_parents) $(_ghyvictl_types) --attributes --ranges $table $common" ;;
		report) words="$(_ghyvictl_uuids) --output --from --seconds --count --policies $common" ;;
		list | ls) words="$(_ghyvictl_uuids) $table $common" ;;
		reset | migrate-check) words="$(_ghyvictl_uuids) $common" ;;
		silicon-report)
			mapfile -t COMPREPLY < <(compgen -f -W "$common" -- "$current")
			return
			;;
		doctor) words="--root --kernel $common" ;;
		export) words="--output --no-mdevctl --help" ;;
		*) words=$common ;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	# compgen -W would expand names of files.
	if [ "$command" = migrate-check ]; then
		mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
	fi
	# The part before "=" is on the line already.
	if [[ $current == *=* ]]; then
		COMPREPLY=("${COMPREPLY[@]#*=}")
	fi
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}

complete -F _ghyvictl ghyvictl

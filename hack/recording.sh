#!/bin/sh
# make recording: run `kubectl batchjob demo` in a real terminal (tmux), press keys, and draw what it shows twice a second
# as an animation, docs/images/demo.svg.
set -eu
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
terminal() { tmux -u -S "$dir/tmux" "$@"; }
cleanup() {
	status=$?
	trap - EXIT
	terminal kill-server 2>/dev/null || true
	rm -rf "$dir"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

go build -o "$dir/picture" ./hack/picture
printf 'set -g default-terminal xterm-256color\nset -g status off\n' >"$dir/tmux.conf"
terminal -f "$dir/tmux.conf" new-session -d -x 100 -y 30 -e COLORTERM=truecolor -e LC_ALL=C.UTF-8 -e TZ=UTC -e BATCHJOB_INTERACTIVE=true 'sh -i'
# The plugin is the one that was just built.
terminal send-keys -l "kubectl() { shift; '$PWD/bin/kubectl-batchjob' \"\$@\"; }; PS1='$ '; clear"
terminal send-keys Enter
sleep 1

# film FRAMES CAPTION: keep so many frames
film() {
	for _ in $(seq "$1"); do
		printf '\f0.5 %s\n' "$2"
		terminal capture-pane -e -p
		sleep 0.5
	done >>"$dir/film"
}
# press KEY CAPTION FRAMES: press it, and keep so many frames
press() {
	terminal send-keys "$1"
	sleep 0.1
	film "$3" "$2"
}

terminal send-keys -l 'kubectl batchjob demo'
film 2 ''
# The list begins with some Jobs failed, and previews the one under the cursor: montecarlo.
press Enter '' 12
press Down 'arrow keys: preview a Job' 3
press Enter 'enter: open the Job' 8
press 2 '2: its indexes' 8
press n 'n: next problem' 4
press n 'n: next problem' 4
press 4 '4: its failures' 8
press 5 '5: its pods' 6
press Enter 'enter: open the pod' 6
press l 'l: its log' 8
press Escape 'esc: back' 1
press Escape 'esc: back' 6
press g 'g: the first Job' 6
press e 'e: explain it' 14
press '?' '?: help' 5
"$dir/picture" 'kubectl batchjob demo' <"$dir/film" >docs/images/demo.svg
ls -l docs/images/demo.svg

//go:build linux

package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/docs/page"
)

// read runs a page in the same way as the test of the documentation.
func read(t *testing.T, limit time.Duration, text string) error {
	t.Helper()
	p, err := page.Parse("p.md", text)
	assert.NoError(t, err)
	s, err := Start(t.TempDir(), t.TempDir(), append(os.Environ(), "LC_ALL=C.UTF-8"))
	assert.NoError(t, err)
	defer s.Close()
	for _, b := range p.Blocks {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		err := s.Run(ctx, b)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// aView is a program that behaves like an interactive view: full screen, until q is pressed once per nested view. It
// occupies lines 2 to 10 of a page that begins with it.
const aView = "```sh\n" + `cat >view.sh <<'EOF'
test -t 0 && test -t 1 && test -t 2 || exit 9
stty -icanon -echo
printf '\033[?1049h\033[1mthe first\033[m picture  ? help'
for i in $(seq $1); do test "$(dd bs=1 count=1 2>/dev/null)" = q || exit 8; done
printf '\033[?1049l'
exit $2
EOF
` + "```\n"

// Issue 7, point 6: pages pass if every command behaves as the page says.
func TestRightPagesPass(t *testing.T) {
	for name, text := range map[string]string{
		"a success":        "```sh\ntrue\n```\n",
		"an exit code":     "<!-- run: exit 3 -->\n```sh\ntrue\n(exit 3)\n```\n",
		"state stays":      "```sh\nmkdir x && cd x\nexport A=1; B=2; f() { echo f; }\n```\n```console\n$ test \"$(basename $PWD) $A $B $(f)\" = 'x 1 2 f'\n```\n",
		"several lines":    "```sh\nfor i in 1 2\ndo\n  echo $i\ndone >out # said\n# a comment\n\ncat <<EOF >>out\n3\nEOF\necho \\\n  4 >>out; test $(tr -d '\\n' <out) = 1234\n```\n",
		"a console":        "```console\n$ printf a\nfalse\n$ false || echo b\n```\n",
		"until":            "<!-- run: until \"ready\" -->\n```sh\nx=1\necho ready; sleep 100\n```\n",
		"until of a trap":  "<!-- run: until \"ready\" -->\n```sh\nsh -c 'trap \"exit 0\" INT; echo ready; while :; do sleep 0.05; done'\n```\n",
		"a background job": "```sh\nenv --default-signal=INT sleep 100 &\n```\n<!-- run: until \"ready\" -->\n```sh\nsh -c 'echo ready; sleep 100'\n```\n```sh\nkill $!\n```\n",
		"wait":             "```sh\ntrue &\nwait\n```\n",
		"a closed pipe":    "```sh\nyes | head -n 1\n```\n",
		"a view":           aView + "<!-- run: view \"first picture\" -->\n```sh\ntrue\nsh view.sh 3 0\n```\n",
		"a code of a view": aView + "<!-- run: view -->\n<!-- run: exit 130 -->\n```sh\nsh view.sh 1 0\nsh view.sh 1 130\n```\n",
		"no terminal":      "```sh\n! test -t 0 && ! test -t 1 && ! test -t 2\nread x || true\ntest ! -e /dev/fd/3 && test ! -e /dev/fd/4\n```\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := read(t, time.Minute, text); err != nil {
				t.Error(err)
			}
		})
	}
}

// Issue 7, point 6: a page with a misbehaving command fails, and the error names the command.
func TestWrongPagesFail(t *testing.T) {
	for _, tc := range []struct{ name, text, where, problem, output string }{
		{"a failure", "```sh\ntrue\nls /nowhere\ntrue\n```\n", "p.md:3", "exit code 2, want 0", "/nowhere"},
		{"in a console", "```console\n$ true\nout\n$ echo why; false\n```\n", "p.md:4", "exit code 1, want 0", "why"},
		{"of several lines", "```sh\ntrue\n\nif true; then\n  false\nfi\n```\n", "p.md:4", "exit code 1, want 0", ""},
		{"before the last", "<!-- run: exit 3 -->\n```sh\n(exit 3)\n(exit 3)\n```\n", "p.md:3", "exit code 3, want 0", ""},
		{"another code", "<!-- run: exit 3 -->\n```sh\n(exit 4)\n```\n", "p.md:3", "exit code 4, want 3", ""},
		{"no failure", "<!-- run: exit 3 -->\n```sh\ntrue\n```\n", "p.md:3", "exit code 0, want 3", ""},
		{"in a pipeline", "```sh\nfalse | cat\n```\n", "p.md:2", "exit code 1, want 0", ""},
		{"unknown program", "```sh\nkubectl-batchjop status\n```\n", "p.md:2", "exit code 127", "not found"},
		{"without an end", "```sh\nsleep 100\n```\n", "p.md:2", "it has not ended in time", ""},
		{"another text", "<!-- run: until \"ready\" -->\n```sh\necho steady\n```\n", "p.md:3", `it ended, with exit code 0, without printing "ready"`, "steady"},
		{"never the text", "<!-- run: until \"ready\" -->\n```sh\necho steady; sleep 100\n```\n", "p.md:3", "it has not ended in time", "steady"},
		{"text and failure", "<!-- run: until \"ready\" -->\n```sh\necho ready; false\n```\n", "p.md:3", "exit code 1, want 0", "ready"},
		{"an end of the shell", "```sh\nexit 0\n```\n", "p.md:2", "the shell has ended", ""},
		{"a syntax error", "```sh\ntrue\n) x\n```\n", "p.md:2", "no shell understands it", ""},
		{"an open quote", "```sh\necho \"x\n```\n", "p.md:2", "has no end", ""},
		{"no command", "```sh\n# nothing\n```\n", "p.md:2", "there is no command", ""},
		{"no view", "<!-- run: view -->\n```sh\necho a table\n```\n", "p.md:3", "no command opened an interactive view", ""},
		{"an error in place of a view", "<!-- run: view -->\n```sh\nsh -c 'echo no such Job >&2; exit 1'\n```\n", "p.md:3", "exit code 1, want 0", "no such Job"},
		{"another view", aView + "<!-- run: view \"second\" -->\n```sh\nsh view.sh 1 0\n```\n", "p.md:13", "it has not ended in time", "the first picture"},
		{"a view that fails", aView + "<!-- run: view \"first\" -->\n```sh\nsh view.sh 1 3\n```\n", "p.md:13", "exit code 3, want 0", "the first picture"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if strings.Contains(tc.problem, "in time") {
				limit = 5 * time.Second
			}
			var problem *Error
			if err := read(t, limit, tc.text); !errors.As(err, &problem) {
				t.Fatalf("error %v", err)
			}
			if problem.Where != tc.where || !strings.Contains(problem.Problem, tc.problem) || !strings.Contains(problem.Output, tc.output) {
				t.Errorf("at %s: %s; it printed %q\nwant at %s: %s; %q", problem.Where, problem.Problem, problem.Output, tc.where, tc.problem, tc.output)
			}
			for _, part := range []string{problem.Where, problem.Problem, strings.TrimSpace(strings.Split(problem.Command, "\n")[0])} {
				if !strings.Contains(problem.Error(), part) {
					t.Errorf("the error lacks %q: %s", part, problem)
				}
			}
		})
	}
}

func TestScriptIsSplitIntoCommands(t *testing.T) {
	pieces := []page.Command{{Line: 5, Text: "a \\\n  b\n\n# comment\nc <<X\n\ntext\nX\nif d\nthen e\nfi\n"}, {Line: 20, Text: "f 'g\nh'\n"}}
	got, err := Split(context.Background(), pieces)
	want := []page.Command{{Line: 5, Text: "a \\\n  b\n"}, {Line: 9, Text: "c <<X\n\ntext\nX\n"}, {Line: 13, Text: "if d\nthen e\nfi\n"}, {Line: 20, Text: "f 'g\nh'\n"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

// No process that a page has started outlives the session.
func TestCloseEndsAll(t *testing.T) {
	s, err := Start(t.TempDir(), t.TempDir(), os.Environ())
	assert.NoError(t, err)
	b := page.Block{Lang: "sh", Text: "sleep 1000 &\n"}
	assert.NoError(t, s.Run(context.Background(), b))
	left := s.descendants()
	if len(left) == 0 {
		t.Fatal("no process was found")
	}
	s.Close()
	deadline := time.Now().Add(time.Minute)
	for pid := range left {
		for alive(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is still there", pid)
			}
			<-time.After(pace)
		}
	}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(data), ") Z ")
}

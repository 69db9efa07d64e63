package clitest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
)

// Transcripts runs the scripts testdata/*.txtar. Their command "session FILE" runs the lines of the file that start with $, and
// prints the file with their output: | precedes a line of stdout, ! a line of stderr, with the exit code unless that is 0.
// The README of test/kit lists the commands.
func (f Program) Transcripts(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for i, file := range files {
		if files[i], err = filepath.Abs(file); err != nil { // Commands change the working directory.
			t.Fatal(err)
		}
	}
	type key struct{}
	testscript.Run(t, testscript.Params{
		Files: files, UpdateScripts: goldenfile.Rewrites(),
		Setup: func(env *testscript.Env) error {
			env.Values[key{}] = env.T()
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"session": func(ts *testscript.TestScript, _ bool, args []string) {
			s := &script{t: ts.Value(key{}).(testing.TB), program: f, dir: ts.MkAbs(".")}
			s.replay(ts.ReadFile(args[0]))
			_, err := ts.Stdout().Write(s.shown())
			ts.Check(err)
		}},
	})
}

// script runs the commands of a transcript.
type script struct {
	t       testing.TB
	program Program
	dir     string
	api     *Writes // nil before the command cluster
	columns int     // of the terminal, 0 for none
	out     bytes.Buffer
	writes  int // number of writes shown
	seen    int // number of requests shown
}

// commands are the commands of a transcript besides kubectl batchjob.
var commands map[string]func(s *script, args []string)

func init() {
	commands = map[string]func(*script, []string){
		"cluster": func(s *script, files []string) {
			s.api, s.writes, s.seen = NewWrites(s.t), 0, 0
			s.put(files)
		},
		"put":   (*script).put,
		"patch": func(s *script, args []string) { s.patch(args[0], args[1]) },
		"delete": func(s *script, args []string) {
			for _, name := range args {
				if pod, ok := strings.CutPrefix(name, "pod/"); ok {
					s.api.Pods.Remove(pod)
				} else if job := s.api.Job(name); job != nil { // A hook comes at each write.
					s.api.API.Remove(job)
				}
			}
		},
		"log":      func(s *script, args []string) { s.api.Pods.Write(args[0], args[1:]...); s.api.Pods.End(args[0]) },
		"deny":     func(s *script, calls []string) { s.api.Deny(calls...) },
		"refuse":   (*script).refuse,
		"reject":   (*script).reject,
		"answer":   (*script).answer,
		"before":   func(s *script, args []string) { s.hook(args[0], args[1:], true) },
		"after":    func(s *script, args []string) { s.hook(args[0], args[1:], false) },
		"terminal": func(s *script, args []string) { s.columns, _ = strconv.Atoi(args[0]) },
		"get":      func(s *script, args []string) { s.get(args[0], args[1]) },
		"cat":      func(s *script, args []string) { s.show("| ", s.read(args[0])) },
		"writes": func(s *script, args []string) {
			calls, separator := s.api.Calls(), ", "
			if len(args) > 0 && args[0] == "--urls" {
				calls, separator = s.api.urls, "\n"
			}
			s.show("| ", strings.Join(calls[s.writes:], separator))
			s.writes = len(calls)
		},
		"requests": func(s *script, args []string) {
			all := s.api.objects.Queries("")
			for _, request := range slices.Sorted(slices.Values(all[s.seen:])) { // Some are sent at the same time.
				request, _ = url.QueryUnescape(request)
				if path, _, _ := strings.Cut(request, "?"); len(args) == 0 || strings.HasSuffix(path, args[0]) {
					s.show("| ", strings.TrimSuffix(request, "?"))
				}
			}
			s.seen = len(all)
		},
	}
}

var word = regexp.MustCompile(`(?:[^\s']|'[^']*')+`)

// replay runs the commands, and keeps comments and empty lines.
func (s *script) replay(text string) {
	for line := range strings.Lines(text) {
		command, is := strings.CutPrefix(line, "$ ")
		if is || line == "\n" || strings.HasPrefix(line, "#") {
			s.out.WriteString(line)
		}
		if is {
			words := word.FindAllString(command, -1)
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], "'", "")
			}
			s.run(words)
		}
	}
}

func (s *script) run(words []string) {
	command := commands[words[0]]
	switch {
	case len(words) > 1 && words[0] == "kubectl" && words[1] == "batchjob":
		s.execute(words[2:])
	case command == nil:
		s.t.Fatalf("%q is no command of transcripts", words)
	default:
		command(s, words[1:])
	}
}

// show prints lines with a prefix.
func (s *script) show(prefix, text string) {
	for line := range strings.Lines(text) {
		s.out.WriteString(strings.TrimRight(prefix+strings.TrimSuffix(line, "\n"), " ") + "\n")
	}
}

// shown returns the transcript, without the addresses and folders of this run.
func (s *script) shown() []byte {
	text := strings.ReplaceAll(s.out.String(), s.dir, "$WORK")
	return regexp.MustCompile(`127\.0\.0\.1:\d{4,5}`).ReplaceAll([]byte(text), []byte("server"))
}

// process is locked by a command line, which uses the working directory and the environment of the process.
var process sync.Mutex

// execute runs a command line, in which "< FILE" names its stdin, and "| grep PATTERN" selects lines of stdout.
func (s *script) execute(args []string) {
	process.Lock()
	defer process.Unlock()
	s.t.Helper()
	server, stdin := "http://127.0.0.1:1", ""
	if s.api != nil {
		server = s.api.API.URL()
	}
	if i := slices.Index(args, "<"); i >= 0 {
		stdin, args = s.read(args[i+1]), args[:i]
	}
	var shown *regexp.Regexp
	if i := slices.Index(args, "|"); i >= 0 && args[i+1] == "grep" {
		shown, args = regexp.MustCompile(args[i+2]), args[:i]
	}
	folder, err := os.Getwd()
	s.must(err)
	s.must(os.Chdir(s.dir))
	defer func() { s.must(os.Chdir(folder)) }()
	before, was := os.LookupEnv("KUBECONFIG")
	s.must(os.Setenv("KUBECONFIG", WriteKubeconfig(s.t, server)))
	defer func() {
		if s.must(os.Unsetenv("KUBECONFIG")); was {
			s.must(os.Setenv("KUBECONFIG", before))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	env := NewEnv()
	if s.columns > 0 {
		columns := s.columns
		env.Terminal = func(io.Writer) int { return columns }
	}
	var out, errOut bytes.Buffer
	err = s.program.Execute(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &errOut}, env)
	cmdutil.PrintError(&errOut, err)
	for line := range strings.Lines(out.String()) {
		if shown == nil || shown.MatchString(line) {
			s.show("| ", line)
		}
	}
	prefix := "! "
	if code := cmdutil.ExitCode(err); code != 0 {
		prefix = fmt.Sprintf("!%d ", code)
		if errOut.Len() == 0 {
			errOut.WriteString("\n")
		}
	}
	s.show(prefix, errOut.String())
}

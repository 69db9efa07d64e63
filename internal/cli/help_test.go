package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/help"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// commands returns all commands that help describes, by their words on the command line.
func commands(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	root := NewCommand()
	all := map[string]*cobra.Command{}
	help.EachCommand(root, func(cmd *cobra.Command) {
		if cmd.Name() != "help" {
			all[strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), root.CommandPath()))] = cmd
		}
	})
	return all
}

// ux.md, "Conventions": the content of help, in 80 columns (CLI-01 to CLI-08 are explained there).
func TestHelpFitsEightyColumns(t *testing.T) {
	for words := range commands(t) {
		got := program.Run(t, nil, append(strings.Fields(words), "--help")...)
		if got.Code != 0 || got.ErrOut != "" {
			t.Errorf("%s --help: exit %d, stderr %q", words, got.Code, got.ErrOut)
		}
		clitest.Golden(t, filepath.Join("help", strings.ReplaceAll(cmp.Or(words, "root"), " ", "-")+".golden"), got.Out)
		for line := range strings.Lines(got.Out) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > help.Width || strings.ContainsRune(line, '\t') {
				t.Errorf("%s --help: too wide, or with a tab: %q", words, line)
			}
		}
	}
}

// maxHelpLines is the maximum number of lines of a verb's help, which has to fit one screen.
const maxHelpLines = 45

// flagLine matches the start of a flag's description in help.
var flagLine = regexp.MustCompile(`(?m)^ *--?[A-Za-z]`)

// The help of the verbs for everyday use fits a screen: prose, examples, and one line for each flag.
// Requirements: CLI-50
func TestHelpOfMainVerbsFitsAScreen(t *testing.T) {
	for _, verb := range strings.Fields("status why watch wait run retry logs create lint simulate") {
		got := program.Run(t, nil, verb, "--help").Out
		if lines := strings.Count(got, "\n"); lines > maxHelpLines {
			t.Errorf("%s --help has %d lines", verb, lines)
		}
		first, flags, _ := strings.Cut(got, "Flags:\n")
		flags, _, _ = strings.Cut("\n"+strings.TrimSpace(flags), "\n\n")
		assert.Equal(t, strings.Count(flags, "\n"), len(flagLine.FindAllString(flags, -1)), verb, "a flag has more than one line")
		if n := strings.Count(first, "  # "); n < 3 || n > 5 {
			t.Errorf("%s --help has %d examples before its flags", verb, n)
		}
	}
}

func TestHelpIsComplete(t *testing.T) {
	for words, cmd := range commands(t) {
		if cmd.Long == "" || cmd.Example == "" || cmd.Short == "" {
			t.Errorf("%q lacks a description or examples", words)
		}
		if strings.Contains(cmd.Long, "130") && !strings.Contains(cmd.Long, "143") {
			t.Errorf("%q explains how Ctrl-C ends it, and not SIGTERM", words)
		}
		if len(cmd.Short) > 60 || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%q: the list of the root has room for few words, without a full stop: %q", words, cmd.Short)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.HasSuffix(f.Usage, ".") && f.Name != "feature-gates" {
				t.Errorf("%s --%s: %q is no sentence", words, f.Name, f.Usage)
			}
		})
	}
	for _, verb := range NewCommand().Commands() {
		if verb.GroupID == "" && !slices.Contains([]string{"version", "completion", "options", "help"}, verb.Name()) {
			t.Errorf("%s is in no group of the root's help", verb.Name())
		}
	}
	root := program.Run(t, nil, "--help").Out
	for _, part := range []string{"0 done", "1 error", "2 wrong usage", "3 a Job", "124 timeout", "130 Ctrl-C", "143 SIGTERM", "Look at Jobs:", "Make Jobs:", "Run Jobs:", "Exit codes", "version", "completion", "Examples"} {
		assert.Contains(t, root, part)
	}
}

// The same flag has the same description in every verb, except for flags that differ.
func TestFlagsReadTheSame(t *testing.T) {
	differ := []string{"output", "index", "managed-by", "all-namespaces", "container", "image", "timeout", "watch", "from", "exit-status", "quiet", "server", "replace", "failed", "dry-run"}
	seen := map[string]string{}
	for _, cmd := range commands(t) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			text := f.Shorthand + " " + f.Value.Type() + " " + f.Usage
			switch f.Name {
			case "output":
				text, _, _ = strings.Cut(text, " format")
			case "all-namespaces":
				text, _, _ = strings.Cut(strings.TrimSuffix(text, "."), ";")
			default:
				if slices.Contains(differ, f.Name) {
					return
				}
			}
			if before, ok := seen[f.Name]; ok && before != text {
				t.Errorf("--%s: %q and %q", f.Name, before, text)
			}
			seen[f.Name] = text
		})
	}
}

// Flags of libraries are described in our words, and kubectl's flags are not repeated for each verb.
func TestFlagsOfLibrariesAreDescribed(t *testing.T) {
	words := help.FlagTexts()
	for name := range help.LibraryFlags() {
		if words[name] == "" {
			t.Errorf("--%s has no wording", name)
		}
	}
	status, options := program.Run(t, nil, "status", "--help").Out, program.Run(t, nil, "options").Out
	for name := range help.LibraryFlags() {
		if help.LibraryFlags()[name] == help.KubectlFlags && (strings.Contains(status, "--"+name+" ") || !strings.Contains(options, "--"+name)) {
			t.Errorf("--%s belongs in the list of options, and not in status --help", name)
		}
	}
	assert.Contains(t, status, `"kubectl batchjob options"`, "status --help does not say where the other flags are")
}

// example matches a command line of this program in a text, without the commands before it in a pipeline.
var example = regexp.MustCompile(`(?m)^[^#\n]*?kubectl[ -]batchjob (.*)`)

func examplesIn(text string) (lines [][]string) {
	text = strings.ReplaceAll(text, "\\\n", "")
	for _, match := range example.FindAllStringSubmatch(text, -1) {
		lines = append(lines, shellWords(match[1]))
	}
	return lines
}

// shellWords returns the words of a command, up to a comment, a pipe, or another end of the command.
func shellWords(line string) (words []string) {
	word, quote, begun := "", rune(0), false
	for _, r := range line + " " {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				words = append(words, word)
			}
			word, begun = "", false
		case quote == 0 && (strings.ContainsRune("|)<>;&", r) || r == '#' && !begun):
			if begun && (r != '>' || word != "2") { // 2> redirects stderr.
				words = append(words, word)
			}
			return words
		default:
			word, begun = word+string(r), true
		}
	}
	return words
}

// Every example in help can be typed as printed.
func TestExamplesAreValid(t *testing.T) {
	n := 0
	for words, cmd := range commands(t) {
		for _, args := range examplesIn(cmd.Example) {
			n++
			checkExample(t, words, args)
		}
	}
	if n < 35 {
		t.Errorf("only %d examples were found", n)
	}
}

// The same holds for the documentation. test/product/docs runs its commands, except a few that no test can run.
func TestDocumentedCommandsAreValid(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	assert.NoError(t, err)
	commandLine := regexp.MustCompile(`(?m)^ *(?:\$ )?kubectl[ -]batchjob .*`)
	n := 0
	for _, file := range append(files, "../../README.md", "../../CONTRIBUTING.md", "../../examples/README.md") {
		if filepath.Base(file) == "reference.md" {
			continue // Its examples are from help.
		}
		data, err := os.ReadFile(file)
		assert.NoError(t, err)
		for _, line := range commandLine.FindAllString(strings.ReplaceAll(string(data), "\\\n", ""), -1) {
			for _, args := range examplesIn(strings.TrimSpace(line)) {
				n++
				checkExample(t, file, args)
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d commands were found", n)
	}
}

func checkExample(t *testing.T, where string, args []string) {
	t.Helper()
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, "http://127.0.0.1:1"))
	root := NewCommand()
	root.SetOut(io.Discard)
	root.SetArgs(args)
	ran := ""
	help.EachCommand(root, func(cmd *cobra.Command) {
		cmd.Run, cmd.RunE = nil, func(cmd *cobra.Command, _ []string) error {
			if ran = cmd.Name(); cmd.HasAlias(args[0]) {
				ran = args[0]
			}
			return nil
		}
	})
	if err := root.Execute(); err != nil || ran != args[0] && args[0] != "completion" && !strings.HasPrefix(args[0], "-") {
		t.Errorf("%s: %q: %v", where, args, err)
	}
	if args[0] == "controller" || args[0] == "demo" {
		return // controller sets the process's logging, and demo would run to its end, as it needs no cluster.
	}
	// Verbs check their flags before they connect, and the canceled context keeps them from connecting.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
	if err := program.Execute(ctx, args, streams, clitest.NewEnv()); cmdutil.ExitCode(err) == cmdutil.ExitUsage {
		t.Errorf("%s: %q: %v", where, args, err)
	}
}

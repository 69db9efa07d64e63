package scenario

import (
	"strings"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
)

// Command returns a command with a name and arguments.
func Command(name string, args ...string) *datadriven.TestData {
	d := &datadriven.TestData{Cmd: name}
	for _, arg := range args {
		if arg == "" {
			continue
		}
		key, value, found := strings.Cut(arg, "=")
		a := datadriven.CmdArg{Key: key}
		if found {
			a.Vals = []string{value}
		}
		d.CmdArgs = append(d.CmdArgs, a)
	}
	return d
}

// WithInput sets the input of a command, and returns the command.
func WithInput(d *datadriven.TestData, input string) *datadriven.TestData {
	d.Input = input
	return d
}

// File returns the text of a scenario file with these commands.
func File(comment string, commands []*datadriven.TestData) string {
	var b strings.Builder
	for line := range strings.Lines(comment) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	for _, d := range commands {
		b.WriteString("\n" + d.Cmd)
		for _, arg := range d.CmdArgs {
			b.WriteString(" " + arg.String())
		}
		b.WriteString("\n")
		if d.Input != "" {
			b.WriteString(strings.TrimSuffix(d.Input, "\n") + "\n")
		}
		b.WriteString("----\n" + d.Expected)
	}
	return b.String()
}

// IndexedSpec returns the spec of an Indexed Job.
func IndexedSpec(completions, parallelism int32) batchv1.JobSpec {
	mode := batchv1.IndexedCompletion
	return batchv1.JobSpec{CompletionMode: &mode, Completions: &completions, Parallelism: &parallelism}
}

// NonIndexedSpec returns the spec of a Job whose pods have no indexes.
func NonIndexedSpec(completions, parallelism, limit int32) batchv1.JobSpec {
	return batchv1.JobSpec{Completions: &completions, Parallelism: &parallelism, BackoffLimit: &limit}
}

// Package bundle implements the verb bundle, which saves evidence about a Job in a file.
package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/bundle"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const bundleLong = `Save everything about a Job to a file, for when its pods are gone.

The file (tar, gzip) has the Job, its pods, events and nodes, the current and
previous logs of failed containers, and the explanation as text, as JSON, and as
a page of HTML that any browser shows. Read it later, without a cluster:
  kubectl batchjob why --from FILE
  kubectl batchjob watch --from FILE
  kubectl batchjob what-if NAME --from FILE -f policy.yaml

Secrets are left out: values of environment variables, the last-applied
annotation, and known forms of tokens, keys and passwords in logs and objects.
--redact names more, and what it matches is removed from names, too: of objects,
labels, files and folders. It leaves alone times, types, statuses, phases,
reasons, UIDs, counts and quantities. The file says what was removed, what was
left out for its size, and what could not be read. Look at it before you share
it: no list of patterns is complete.`

const bundleExample = `  # Write train-20261123-091500.tar.gz
  kubectl batchjob bundle train

  # Choose the file, and remove customer numbers
  kubectl batchjob bundle train -f train.tar.gz --redact 'C-[0-9]{8}'

  # Write to another place
  kubectl batchjob bundle train -f - | ssh archive 'cat > train.tar.gz'`

// toStdout is the file name that means standard output.
const toStdout = "-"

// Options are the flags of the bundle verb.
type Options struct {
	cmdutil.Env
	kube     *cmdutil.KubeFlags
	file     string
	output   string // the former name of file
	redact   []string
	logLines int64

	name      string
	patterns  []*regexp.Regexp
	set       feed.JobSet
	explainer *cmdutil.Explainer
}

// NewCommand returns the command bundle, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags()}
	cmd := &cobra.Command{
		Use:               "bundle NAME",
		Short:             "Save everything about a Job to a file, for a ticket",
		Long:              bundleLong,
		Example:           bundleExample,
		ValidArgsFunction: cmdutil.CompleteJob(o.kube),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(args); err != nil {
				return err
			}
			var err error
			if o.set, o.explainer, err = cmdutil.OpenJobs(o.kube, cmdutil.JobChoice{Names: []string{o.name}}, o.ErrOut, o.Env); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "file", "f", "", "File to write, - for standard output; by default NAME-TIME.tar.gz.")
	flags.StringVarP(&o.output, "output-file", "o", "", "The former name of --file, for one release.")
	_ = flags.MarkHidden("output-file") // The flag exists.
	flags.StringArrayVar(&o.redact, "redact", nil, "Regular expression (RE2) of text and names to remove; may be repeated.")
	flags.Int64Var(&o.logLines, "max-log-lines", 2000, "How many last lines to keep of each log; 0 for no logs.")
	o.kube.AddTo(cmd)
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	names, err := cmdutil.ParseJobArgs(args)
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return cmdutil.UsageErrorf("name one Job")
	}
	o.name = names[0]
	if err := o.validateOutput(); err != nil {
		return err
	}
	if o.logLines < 0 {
		return cmdutil.UsageErrorf("--max-log-lines=%d: must be 0 or more", o.logLines)
	}
	for _, text := range o.redact {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return cmdutil.UsageErrorf("--redact=%s: %v", text, err)
		}
		o.patterns = append(o.patterns, pattern)
	}
	return nil
}

// validateOutput accepts -o FILE, the former name of -f. In all other verbs, -o is a format.
func (o *Options) validateOutput() error {
	switch {
	case o.output == "":
	case o.file != "":
		return cmdutil.UsageErrorf("-f and -o cannot be used together")
	case slices.Contains([]string{"json", "yaml", "name", "wide"}, o.output):
		return cmdutil.UsageErrorf("-o=%s: bundle has no output format; name the file with -f", o.output)
	default:
		o.file = o.output
		fmt.Fprintln(o.ErrOut, "warning: -o FILE will be removed from bundle; use -f FILE")
	}
	return nil
}

// Run reads the Job, and writes the file.
func (o *Options) Run(ctx context.Context) error {
	job, err := o.set.Get(ctx, o.name)
	if err != nil {
		return o.explainer.ExplainMissing(ctx, []error{err})[0]
	}
	collector := bundle.Collector{Client: o.explainer.Client, Now: o.Now, LogLines: o.logLines}
	terminal := o.TerminalWidth(o.ErrOut) != 0
	if terminal {
		collector.Progress = func(what string) { fmt.Fprintf(o.ErrOut, "\r\x1b[KReading %s", what) }
	}
	contents, err := collector.Collect(ctx, job)
	if terminal {
		fmt.Fprint(o.ErrOut, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	contents.Manifest.Client = cmdutil.CurrentVersion().Version
	if o.file == toStdout {
		manifest, err := bundle.Write(o.Out, contents, o.patterns)
		if err == nil {
			o.report(manifest)
		}
		return err
	}
	if o.file == "" {
		name := o.name
		for _, pattern := range o.patterns {
			name = pattern.ReplaceAllLiteralString(name, "redacted")
		}
		o.file = fmt.Sprintf("%s-%s.tar.gz", name, contents.Manifest.Taken.UTC().Format("20060102-150405"))
	}
	manifest, size, err := o.writeFile(ctx, contents)
	if err != nil {
		return cmdutil.NewUserError(cmdutil.KindOther, err, fmt.Sprintf("writing %s: %v", o.file, err), "")
	}
	o.report(manifest)
	if _, err = fmt.Fprintf(o.Out, "%s (%s)\n", sanitize.Line(o.file), sizeText(size)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.ErrOut, "Open report.html in it, or: kubectl batchjob why --from %s\n", sanitize.Line(explain.ShellWord(o.file)))
	return err
}

// writeFile writes a new file; it removes a file that it cannot finish.
func (o *Options) writeFile(ctx context.Context, contents *bundle.Contents) (manifest *bundle.Manifest, size int64, err error) {
	if existing, err := os.Stat(o.file); err == nil && existing.IsDir() {
		return nil, 0, errors.New("it is a directory")
	}
	if _, err := os.Lstat(o.file); err == nil {
		return nil, 0, errors.New("it already exists")
	}
	file, err := os.CreateTemp(filepath.Dir(o.file), "."+filepath.Base(o.file)+".*")
	if err != nil {
		return nil, 0, err
	}
	defer interrupt.OnExit(ctx, func() { _ = os.Remove(file.Name()) })()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	manifest, err = bundle.Write(file, contents, o.patterns)
	if err == nil {
		size, err = file.Seek(0, io.SeekCurrent)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, 0, err
	}
	return manifest, size, os.Rename(file.Name(), o.file)
}

// report prints what the file lacks: gaps, parts omitted for size, and removed text.
func (o *Options) report(m *bundle.Manifest) {
	for _, gap := range m.Gaps {
		fmt.Fprintln(o.ErrOut, "warning:", sanitize.Line(gap.Text))
	}
	for _, cut := range m.Cut {
		fmt.Fprintln(o.ErrOut, "warning: left out for size:", sanitize.Line(cut))
	}
	for _, removal := range m.Removed {
		fmt.Fprintf(o.ErrOut, "Removed from %s: %s (%s)\n", sanitize.Line(removal.File), sanitize.Line(removal.What), wording.Plural(removal.Count, "time", "times"))
	}
}

// sizeText returns a size in kB or MB.
func sizeText(bytes int64) string {
	if bytes < 1_000_000 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1_000_000)
}

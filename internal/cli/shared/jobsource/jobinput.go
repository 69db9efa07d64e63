// Package jobsource reads the history of a Job, for the verbs that replay it.
package jobsource

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/bundle"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/view"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
)

// Source locates a Job: in the cluster, or in a file, which is a bundle or a recording of watch.
type Source struct {
	cmdutil.Env
	Kube *cmdutil.KubeFlags
	// Name is the Job's name; "" for the Job of the bundle, or for the Job that the recording showed last.
	Name string
	// File is "" for the cluster. Flag is the verb's flag for files, for hints.
	File, Flag string
}

// Read returns the history of the Job. It prints the gaps in it to standard error.
func (s Source) Read(ctx context.Context) (*whatif.History, error) {
	read := s.fromCluster
	if s.File != "" {
		read = s.fromFile
	}
	in, err := read(ctx)
	if err != nil {
		return nil, err
	}
	history := whatif.Observe(in)
	if history.PodsKnown == 0 {
		return nil, s.goneError(nil, fmt.Sprintf("what the pods of job %q did is not known: they are gone, or never started", in.Job.Name))
	}
	for _, gap := range in.Gaps {
		fmt.Fprintln(s.ErrOut, cmdutil.OneLine(gap.Text))
	}
	return history, nil
}

// goneError returns the error about data that the cluster no longer has.
func (s Source) goneError(cause error, what string) error {
	return cmdutil.NewUserError(cmdutil.KindNotFound, cause, what, "if bundle or watch --record kept it, use "+s.Flag+" FILE")
}

func (s Source) fromCluster(ctx context.Context) (input.Input, error) {
	set, explainer, err := cmdutil.OpenJobs(s.Kube, cmdutil.JobChoice{Names: []string{s.Name}}, s.ErrOut, s.Env)
	if err != nil {
		return input.Input{}, err
	}
	job, err := set.Get(ctx, s.Name)
	if kube.IsNotFound(err) {
		what := fmt.Sprintf("job %q not found %s", s.Name, set.Call("get", s.Name).Where())
		if pods, err := gather.CountPods(ctx, explainer.Client, set.Namespace, s.Name); err == nil && pods > 0 {
			what = fmt.Sprintf("job %q is gone, and its pods that remain (%d) do not have its policies", s.Name, pods)
		}
		return input.Input{}, s.goneError(err, what)
	}
	if err != nil {
		return input.Input{}, err
	}
	in, err := explainer.Input(ctx, job)
	if err != nil || in.PodsRead {
		return in, err
	}
	var gaps []error
	for _, gap := range in.Gaps {
		gaps = append(gaps, cmdutil.NewUserError(cmdutil.KindOther, nil, fmt.Sprintf("job.batch/%s: %s", s.Name, gap.Text), gap.Command))
	}
	return in, errors.Join(gaps...)
}

func (s Source) fromFile(ctx context.Context) (input.Input, error) {
	in, err := s.readFile(ctx)
	switch {
	case err != nil:
		return in, cmdutil.NewUserError(cmdutil.KindOther, err, fmt.Sprintf("reading %s: %v", s.File, err), "")
	case in.Job == nil:
		return in, cmdutil.NewUserError(cmdutil.KindNotFound, nil, fmt.Sprintf("%s shows no pods of the Job", s.File), "record it with: kubectl batchjob watch NAME --record FILE")
	}
	return in, nil
}

func (s Source) readFile(ctx context.Context) (in input.Input, err error) {
	var recording whatif.Recording
	contents, err := s.open(ctx, func(r *explain.Report, _ time.Time) { recording.Add(r) })
	switch {
	case err != nil:
		return input.Input{}, err
	case contents == nil:
		return recording.Input(), nil
	case s.Name != "" && s.Name != contents.Manifest.Name:
		return input.Input{}, nil
	}
	return contents.Input()
}

// open opens the file, and returns the contents of a bundle. Of a recording, it calls add with each Report on the Job, and
// returns nil.
func (s Source) open(ctx context.Context, add func(r *explain.Report, at time.Time)) (*bundle.Contents, error) {
	file, err := os.Open(s.File)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // It was only read.
	buffered := bufio.NewReader(file)
	if bundle.Is(buffered) {
		return bundle.Read(buffered)
	}
	player, err := snapshot.NewPlayer(buffered, view.Clock{Env: s.Env}, 0)
	if err != nil {
		return nil, err
	}
	for {
		shown, err := player.Next(ctx, 0)
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return nil, err
		case shown.Job != nil && shown.Job.Report != nil && (s.Name == "" || s.Name == shown.Job.Report.Job.Name):
			add(shown.Job.Report, shown.Time)
		}
	}
}

// Report explains the Job in the file, and prints how old the explanation is to standard error. A recording has the
// explanation of the whole Job only.
func (s Source) Report(ctx context.Context, options explain.Options) (explain.Report, error) {
	var last explain.Report
	var taken time.Time
	contents, err := s.open(ctx, func(r *explain.Report, at time.Time) { last, taken = *r, at })
	if err == nil && contents != nil {
		var in input.Input
		if in, err = contents.Input(); err == nil {
			last, taken = analysis.Explain(in, options), contents.Manifest.Taken.Time
			whatif.Quote(ctx, in, last.Advice)
		}
	}
	fail := func(kind cmdutil.ErrorKind, cause error, what, hint string) (explain.Report, error) {
		return explain.Report{}, cmdutil.NewUserError(kind, cause, s.Flag+"="+s.File+": "+what, hint)
	}
	switch {
	case ctx.Err() != nil:
		return explain.Report{}, ctx.Err()
	case err != nil:
		return fail(cmdutil.KindOther, err, err.Error(), "")
	case contents != nil && s.Name != "" && s.Name != last.Job.Name:
		return fail(cmdutil.KindNotFound, nil, fmt.Sprintf("it is about job %q", last.Job.Name), "")
	case last.Job.Name == "":
		return fail(cmdutil.KindNotFound, nil, "it shows no Job on a screen of its own"+s.named(), "record it with: kubectl batchjob watch NAME --record FILE")
	case contents == nil && options.IsNarrow():
		return explain.Report{}, cmdutil.UsageErrorf("--pod and --index require a bundle; a recording explains the whole Job")
	}
	fmt.Fprintf(s.ErrOut, "As of %s, from %s.\n", taken.UTC().Format(time.RFC3339), sanitize.Line(s.File))
	return last, nil
}

// named returns the name, for the end of an error.
func (s Source) named() string {
	if s.Name == "" {
		return ""
	}
	return " for " + s.Name
}

// Package jobsource reads the history of a Job, for the verbs that replay it.
package jobsource

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/batchjob-dev/kubectl-batchjob/internal/bundle"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/view"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
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

func (s Source) readFile(ctx context.Context) (input.Input, error) {
	file, err := os.Open(s.File)
	if err != nil {
		return input.Input{}, err
	}
	defer func() { _ = file.Close() }() // It was only read.
	buffered := bufio.NewReader(file)
	if bundle.Is(buffered) {
		return fromBundle(buffered, s.Name)
	}
	player, err := snapshot.NewPlayer(buffered, view.Clock{Env: s.Env}, 0)
	if err != nil {
		return input.Input{}, err
	}
	var recording whatif.Recording
	for {
		shown, err := player.Next(ctx, 0)
		switch {
		case errors.Is(err, io.EOF):
			return recording.Input(), nil
		case err != nil:
			return input.Input{}, err
		case shown.Job != nil && shown.Job.Report != nil && (s.Name == "" || s.Name == shown.Job.Report.Job.Name):
			recording.Add(shown.Job.Report)
		}
	}
}

// fromBundle returns an input without a Job if the bundle is about another Job.
func fromBundle(file io.Reader, name string) (input.Input, error) {
	contents, err := bundle.Read(file)
	if err != nil || name != "" && name != contents.Manifest.Name {
		return input.Input{}, err
	}
	return contents.Input()
}

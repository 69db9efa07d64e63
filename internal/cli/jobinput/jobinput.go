// Package jobinput reads a Job as it ran, for the verbs that replay it.
package jobinput

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
)

// Read reads a Job of the cluster, its pods and its events.
func Read(ctx context.Context, kube *genericclioptions.ConfigFlags, name string, env cmdutil.Env) (explain.Input, error) {
	set, explainer, err := cmdutil.OpenJobs(kube, cmdutil.JobChoice{Names: []string{name}}, env.ErrOut, env)
	if err != nil {
		return explain.Input{}, err
	}
	job, err := set.Get(ctx, name)
	if err != nil {
		return explain.Input{}, err
	}
	return explainer.Input(ctx, job)
}

// ReadRecording reads what a recording of watch has about a Job, or about the one that was open last if name is "".
func ReadRecording(ctx context.Context, file, name string) (explain.Input, error) {
	in, err := readRecording(ctx, file, name)
	switch {
	case err != nil:
		return in, cmdutil.NewUserError(cmdutil.KindOther, err, fmt.Sprintf("reading %s: %v", file, err), "")
	case in.Job == nil:
		return in, cmdutil.NewUserError(cmdutil.KindNotFound, nil, fmt.Sprintf("%s shows no pods of the Job", file), "record it with: kubectl batchjob watch NAME --record FILE")
	}
	return in, nil
}

func readRecording(ctx context.Context, path, name string) (explain.Input, error) {
	file, err := os.Open(path)
	if err != nil {
		return explain.Input{}, err
	}
	defer func() { _ = file.Close() }() // It was only read.
	player, err := snapshot.NewPlayer(bufio.NewReader(file), noClock{}, 0)
	if err != nil {
		return explain.Input{}, err
	}
	var recording whatif.Recording
	for {
		s, err := player.Next(ctx, 0)
		switch {
		case errors.Is(err, io.EOF):
			return recording.Input(), nil
		case err != nil:
			return explain.Input{}, err
		case s.Job != nil && s.Job.Report != nil && (name == "" || name == s.Job.Report.Job.Name):
			recording.Add(s.Job.Report)
		}
	}
}

// noClock is for a recording that is read without delays.
type noClock struct{}

func (noClock) Now() time.Time { return time.Time{} }

func (noClock) Wait(context.Context, time.Duration) error { return nil }

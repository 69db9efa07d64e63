package view

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/logprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed/live"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	// maxFailedRuns is the maximum number of failed runs whose logs are read, and leastLiveLines how many lines of each are
	// read at least.
	maxFailedRuns  = 100
	leastLiveLines = 50
	// failedPause is the minimum pause between two readings.
	failedPause = time.Second
)

// failedLogs reads the logs of the failed pods of a Job: of each run once, as the verb logs does with --failed.
type failedLogs struct {
	*liveLog
	*logprinter.Output // groups the reasons for missing logs, and writes them to problems
	problems           bytes.Buffer
	failed             func() live.FailedPods

	read      sets.Set[string]    // the runs that were read
	reported  sets.Set[types.UID] // the pods of the current reading that have lines, or a reason for having none
	silent    int                 // how many other pods were read
	unstarted string              // the reasons of containers that did not start
}

func newFailedLogs(log *liveLog, failed func() live.FailedPods) *failedLogs {
	l := &failedLogs{liveLog: log, failed: failed, read: sets.New[string]()}
	l.Output = logprinter.NewOutput(io.Discard, &l.problems, logprinter.Style{})
	return l
}

// Run reads the logs of the pods that have failed, and then of each that fails, until ctx is done.
func (l *failedLogs) Run(ctx context.Context) error {
	l.IsSimulated = cmdutil.SimulatedNodes(ctx, l.client)
	for {
		pods := l.failed()
		fresh := slices.DeleteFunc(slices.Clone(pods.Pods), func(p *input.Pod) bool { return l.read.Has(runOf(p)) })
		slices.SortStableFunc(fresh, func(a, b *input.Pod) int { return b.FinishedAt.Compare(a.FinishedAt) })
		chosen := fresh[:min(len(fresh), maxFailedRuns-len(l.read))]
		err := l.readLogs(ctx, pods, chosen)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if pods.Read || pods.Gap != "" || err != nil {
			l.setMissing(pods.Gap, len(fresh)-len(chosen), err)
		}
		pause, wake := failedPause, (<-chan struct{})(nil)
		if err != nil {
			pause, wake = logRetry, l.news
		}
		if err := l.env.Timing().Pause(ctx, pause, wake); err != nil {
			return err
		}
		if err != nil {
			continue
		}
		select {
		case <-l.news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// runOf identifies the last failed runs of a pod's containers.
func runOf(pod *input.Pod) string {
	restarts := int32(0)
	for i := range pod.Containers {
		restarts += pod.Containers[i].Restarts
	}
	return fmt.Sprintf("%s/%d", pod.UID, restarts)
}

// readLogs reads the logs of the chosen pods. All failed pods tell which attempt each of them is.
func (l *failedLogs) readLogs(ctx context.Context, failed live.FailedPods, chosen []*input.Pod) error {
	if len(chosen) == 0 {
		return nil
	}
	l.mu.Lock()
	l.report("", false)
	l.mu.Unlock()
	selection := logs.Selection{Failed: true, AllContainers: true}
	for _, pod := range chosen {
		selection.Pods = append(selection.Pods, pod.Name)
	}
	var pods []*logs.Pod
	for _, pod := range failed.Pods {
		pods = append(pods, loggedPod(pod, failed.Job))
	}
	l.reported = sets.New[types.UID]()
	err := logs.Read(ctx, pods, logs.Options{
		Selection: selection, TailLines: max(leastLiveLines, maxLiveLines/int64(len(chosen))), Timestamps: true,
		Concurrency: logprinter.DefaultRequests, Open: cmdutil.OpenLog(l.client, l.namespace),
	}, l)
	for _, pod := range chosen {
		switch reported := l.reported.Has(pod.UID); {
		case err != nil && !reported:
			continue // It is read later.
		case !reported:
			l.silent++
		}
		l.read.Insert(runOf(pod))
	}
	return err
}

// OnListing notes which containers have not started.
func (l *failedLogs) OnListing(listing logs.Listing) error {
	for _, u := range listing.Unstarted {
		l.reported.Insert(u.Source.Pod.UID)
	}
	err := l.Output.OnListing(listing)
	l.unstarted += l.taken()
	return err
}

// OnLine adds a line.
func (l *failedLogs) OnLine(source logs.Source, line logs.Line) error {
	l.reported.Insert(source.Pod.UID)
	l.prefix = l.Label(source)
	return l.print(line)
}

// OnUnreadable notes why a log cannot be read.
func (l *failedLogs) OnUnreadable(failure *logs.UnreadableError) {
	l.reported.Insert(failure.Source.Pod.UID)
	l.Output.OnUnreadable(failure)
}

// taken returns the problems that were written, and clears them.
func (l *failedLogs) taken() string {
	defer l.problems.Reset()
	return l.problems.String()
}

// setMissing records why logs are missing, a line for each reason.
func (l *failedLogs) setMissing(gap string, left int, failure error) {
	_ = l.ReportUnread() // The lines say enough.
	why := []string{strings.TrimSpace(l.unstarted), strings.TrimSpace(l.taken()), gap}
	if l.silent > 0 {
		why = append(why, wording.Plural(l.silent, "failed pod has no lines in its log.", "failed pods have no lines in their logs."))
	}
	if left > 0 {
		why = append(why, fmt.Sprintf("%s not read: only the latest %d are.", wording.Plural(left, "failed pod is", "failed pods are"), maxFailedRuns))
	}
	switch {
	case apierrors.IsForbidden(failure):
		why = append(why, gather.GapOf(l.namespace, "get", "pods/log", failure).Text)
	case failure != nil:
		why = append(why, cmdutil.ErrorLine(failure))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.report(strings.Join(slices.DeleteFunc(why, func(line string) bool { return line == "" }), "\n"), true)
}

// loggedPod returns what reading the logs of a failed pod requires.
func loggedPod(pod *input.Pod, job string) *logs.Pod {
	p := &logs.Pod{JobName: job, UID: pod.UID, Name: pod.Name, Node: pod.Node, Index: pod.Index, Attempt: pod.Attempt, Phase: pod.Phase, Created: pod.CreatedAt}
	for i := range pod.Containers {
		from := &pod.Containers[i]
		c := p.Container(from.Name)
		if c == nil {
			p.Containers = append(p.Containers, logs.Container{Name: from.Name, Ended: p.IsTerminal(), HasLog: from.Ended || from.Running})
			c = &p.Containers[len(p.Containers)-1]
			c.Waiting = logs.Reason{Reason: from.Waiting, Message: from.WaitingMessage}
		}
		if failed := from.Ended && from.ExitCode != 0; from.Before {
			c.Restarted, c.PreviousFailed = true, failed
		} else {
			c.Failed = failed
		}
	}
	return p
}

package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/secrets"
)

// tailsPause is the minimum pause between two readings of logs.
const tailsPause = 5 * time.Second

// logTails reads the last lines of the most important logs, concurrently with reports: each log once while it is important.
type logTails struct {
	source    *Source
	related   *related
	namespace string

	read map[input.LogTarget]input.LogTail
}

func (t *logTails) run(ctx context.Context) error {
	var pods []*input.Pod // the pods of targets
	var targets []input.LogTarget
	failed := false
	for {
		facts, err := t.next(ctx, failed)
		if err != nil {
			return err
		}
		pause := tailsPause
		if facts != nil {
			began := t.source.Now()
			targets = analysis.LogTargets(*facts, explain.Options{}, gather.MaxLogs)
			pods = podsOf(facts.Pods, targets)
			pause = max(pause, idleDuty*t.source.Now().Sub(began))
		}
		failed = t.readAll(ctx, pods, targets)
		if err := t.source.Pause(ctx, pause, nil); err != nil {
			return err
		}
	}
}

// next returns the facts that decide which logs to read next; nil if the failed ones are to be read again.
func (t *logTails) next(ctx context.Context, failed bool) (*input.Input, error) {
	var again <-chan time.Time
	if failed {
		ticks, stop := t.source.Ticks(refusedRetry)
		defer stop()
		again = ticks
	}
	select {
	case facts := <-t.related.tailRequests:
		return &facts, nil
	case <-again:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// podsOf returns the pods of the targets, in a slice that does not keep the other pods in memory.
func podsOf(pods []*input.Pod, targets []input.LogTarget) []*input.Pod {
	var of []*input.Pod
	for i := range pods {
		if slices.ContainsFunc(targets, func(t input.LogTarget) bool { return t.Pod == pods[i].Name }) {
			of = append(of, pods[i])
		}
	}
	return of
}

// readAll reads the targets until one fails. failed reports whether another attempt may succeed.
func (t *logTails) readAll(ctx context.Context, pods []*input.Pod, targets []input.LogTarget) (failed bool) {
	read := map[input.LogTarget]input.LogTail{}
	var tails []input.LogTail
	var gap *input.Gap
	for _, target := range targets {
		tail, known := t.read[target]
		if !known {
			var err error
			tail, err = gather.Tail(ctx, t.source.Client, t.namespace, target, t.source.LogLines)
			if ctx.Err() != nil {
				return false
			}
			if err != nil {
				gap = gather.LogGap(ctx, t.source.Client, t.namespace, pods, target, err)
				failed = gap != nil && !kube.IsNotFound(err)
				break
			}
			tail.Lines = secrets.RemoveFromLines(tail.Lines)
		}
		read[target] = tail
		if len(tail.Lines) > 0 {
			tails = append(tails, tail)
		}
	}
	t.read = read
	t.source.mu.Lock()
	defer t.source.mu.Unlock()
	t.related.tails, t.related.tailsGap = tails, gap
	t.related.touch(t.source)
	return failed
}

// evidenceOf returns a string that identifies the failures in a report, so that logs are read again when they change; "" if
// nothing failed.
func evidenceOf(r *explain.Report) string {
	var names strings.Builder
	for i := range r.Evidence {
		switch e := &r.Evidence[i]; e.Kind {
		case explain.EvidencePod:
			fmt.Fprintln(&names, e.Pod)
		case explain.EvidenceContainer: // After a restart, the time of its end differs.
			fmt.Fprintf(&names, "%s/%s %v\n", e.Pod, e.Container, e.Time)
		}
	}
	if names.Len() > 0 {
		fmt.Fprint(&names, len(r.Causes))
	}
	return names.String()
}

// requestTails requests log tails if the failures in the report have changed. The caller holds source.mu.
func (r *related) requestTails(report *explain.Report, facts input.Input) {
	evidence := evidenceOf(report)
	if evidence == "" || evidence == r.requested {
		return
	}
	r.requested = evidence
	facts.Pods, facts.Events = slices.Clone(facts.Pods), nil
	select {
	case <-r.tailRequests:
	default:
	}
	r.tailRequests <- facts // This is the only sender, so there is room.
}

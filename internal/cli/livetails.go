package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

// tailsPause is how long after a reading of logs the next one begins at the earliest.
const tailsPause = 5 * time.Second

// liveTails reads the last lines of the logs that tell most, beside the reports: each once, for as long as it tells.
type liveTails struct {
	source    *liveSource
	facts     *liveFacts
	namespace string

	read map[explain.LogTarget]explain.LogTail
}

func (t *liveTails) run(ctx context.Context) error {
	for {
		select {
		case facts := <-t.facts.wantTails:
			began := t.source.env.now()
			targets := explain.LogTargets(facts, explain.Options{}, gather.MaxLogs)
			took := t.source.env.now().Sub(began)
			t.take(ctx, facts.Pods, targets)
			if err := t.source.pause(ctx, max(tailsPause, idleDuty*took), nil); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take reads the targets, until one cannot be read.
func (t *liveTails) take(ctx context.Context, pods []explain.Pod, targets []explain.LogTarget) {
	read := map[explain.LogTarget]explain.LogTail{}
	var tails []explain.LogTail
	var gap *explain.Gap
	for _, target := range targets {
		tail, known := t.read[target]
		if !known {
			lines, err := gather.Tail(ctx, t.source.client, t.namespace, target, t.source.logLines)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				because := gather.LogGap(t.namespace, pods, target, err)
				gap = &because
				break
			}
			tail = explain.LogTail{Pod: target.Pod, Container: target.Container, Lines: lines}
		}
		read[target] = tail
		if len(tail.Lines) > 0 {
			tails = append(tails, tail)
		}
	}
	t.read = read
	t.source.mu.Lock()
	defer t.source.mu.Unlock()
	t.facts.tails, t.facts.tailsGap = tails, gap
	t.facts.touch(t.source)
}

// evidenceOf names what failed according to a report, so that logs are looked for again when that is something else; ""
// if nothing failed.
func evidenceOf(r *explain.Report) string {
	var names strings.Builder
	for i := range r.Evidence {
		if e := &r.Evidence[i]; e.Kind == explain.EvidencePod || e.Kind == explain.EvidenceContainer {
			fmt.Fprintf(&names, "%s/%s\n", e.Pod, e.Container)
		}
	}
	if names.Len() > 0 {
		fmt.Fprint(&names, len(r.Causes))
	}
	return names.String()
}

// askTails has logs read, if the report rests on other failures than the one before. source.mu is held.
func (f *liveFacts) askTails(r *explain.Report, facts explain.Facts) {
	evidence := evidenceOf(r)
	if evidence == "" || evidence == f.asked {
		return
	}
	f.asked = evidence
	facts.Pods, facts.Events = slices.Clone(facts.Pods), nil
	select {
	case <-f.wantTails:
	default:
	}
	f.wantTails <- facts // Only here, so there is room.
}

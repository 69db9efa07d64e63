package cli

import (
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// logNotes prints to stderr what has no log.
type logNotes struct {
	o   *logsOptions
	out io.Writer
}

// unstarted prints a line for each reason, with the first container that has it.
func (n logNotes) unstarted(all []logs.Unstarted) {
	groups := map[string][]logs.Unstarted{}
	var reasons []string
	for _, u := range all {
		// Messages name the pod or the image; containers with the same reason are one group.
		reason := whyUnstarted(u).Reason
		if groups[reason] == nil {
			reasons = append(reasons, reason)
		}
		groups[reason] = append(groups[reason], u)
	}
	for _, reason := range reasons {
		first, others := groups[reason][0], ""
		if more := len(groups[reason]) - 1; more > 0 {
			others = fmt.Sprintf(" (and %d more: %s)", more, oneLine(reason))
		}
		why := oneLine(whyUnstarted(first).String())
		fmt.Fprintf(n.out, "No log of %s, which has not started: %s%s\n", oneLine(first.Source.String()), why, others)
	}
}

func whyUnstarted(u logs.Unstarted) logs.Reason {
	switch {
	case u.Why != logs.Reason{}:
		return u.Why
	case u.Source.Pod.IsTerminal():
		return logs.Reason{Reason: "its pod ended before"}
	}
	return logs.Reason{Reason: "its pod is " + orNone(string(u.Source.Pod.Phase))}
}

// missing prints what a first look at the pods lacks.
func (n logNotes) missing(found logs.Found) {
	present := map[corev1.PodPhase]int32{}
	var indexes []int32
	for _, pod := range found.Pods {
		present[pod.Phase]++
		indexes = append(indexes, pod.Index)
	}
	for _, name := range n.o.unknown {
		fmt.Fprintf(n.out, "The pods of %s have no container %q in their template.\n", n.o.jobLabel(), oneLine(name))
	}
	switch {
	case n.o.options.Indexes != nil:
		n.missingIndexes(n.o.options.Indexes.Difference(indexset.Of(indexes...)))
	default:
		n.gone("failed", n.o.job.Status.Failed-present[corev1.PodFailed])
		if !n.o.options.Failed {
			n.gone("succeeded", n.o.job.Status.Succeeded-present[corev1.PodSucceeded])
		}
	}
	switch {
	case len(found.Pods) == 0:
		n.noPods()
	case len(found.Sources) == 0 && n.o.options.Failed:
		fmt.Fprintf(n.out, "No pod of %s that is there has failed.\n", n.o.jobLabel())
	case len(found.Sources) == 0 && n.o.options.Previous:
		fmt.Fprintf(n.out, "No container of %s has been restarted.\n", n.o.jobLabel())
	}
}

func (n logNotes) gone(how string, count int32) {
	switch {
	case count == 1:
		fmt.Fprintf(n.out, "1 %s pod of %s is gone, and its logs with it.\n", how, n.o.jobLabel())
	case count > 1:
		fmt.Fprintf(n.out, "%d %s pods of %s are gone, and their logs with them.\n", count, how, n.o.jobLabel())
	}
}

// missingIndexes distinguishes indexes whose pods are gone from those that had none yet.
func (n logNotes) missingIndexes(missing indexset.Set) {
	job, limit := n.o.job, int32(0)
	if job.Spec.Completions != nil {
		limit = *job.Spec.Completions
	}
	ended, _ := indexset.ParseTolerant(job.Status.CompletedIndexes, limit)
	if job.Status.FailedIndexes != nil {
		failed, _ := indexset.ParseTolerant(*job.Status.FailedIndexes, limit)
		ended = ended.Union(failed)
	}
	n.indexes(missing.Intersection(ended), "gone, and its logs with it", "gone, and their logs with them")
	n.indexes(missing.Difference(ended), "not there now", "not there now")
}

func (n logNotes) indexes(set indexset.Set, one, many string) {
	text := explain.Crop(set.String(), indexesLimit)
	switch set.Len() {
	case 0:
	case 1:
		fmt.Fprintf(n.out, "The pod of index %s of %s is %s.\n", text, n.o.jobLabel(), one)
	default:
		fmt.Fprintf(n.out, "The pods of indexes %s of %s are %s.\n", text, n.o.jobLabel(), many)
	}
}

// noPods prints what the Job waits for.
func (n logNotes) noPods() {
	view := jobView{job: n.o.job, now: n.o.env.now()}
	state := explain.Status(n.o.job)
	if explain.IsNeglected(view.job, view.now) {
		state = "managed by " + managedByCell(view)
	}
	text := fmt.Sprintf("%s has no pods (%s)", n.o.jobLabel(), oneLine(state))
	if n.o.follow && explain.FinishedAt(n.o.job) == nil {
		text += ", waiting for them"
	}
	fmt.Fprintln(n.out, text+".")
}

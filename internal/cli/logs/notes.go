package logs

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// unstarted prints to stderr a line for each reason, with the first container that has it.
func (p *logsOutput) unstarted(all []logs.Unstarted) {
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
			others = fmt.Sprintf(" (and %d more: %s)", more, cmdutil.OneLine(reason))
		}
		why := cmdutil.OneLine(whyUnstarted(first).String())
		fmt.Fprintf(p.o.ErrOut, "No log from %s, which has not started: %s%s\n", cmdutil.OneLine(first.Source.String()), why, others)
	}
}

func whyUnstarted(u logs.Unstarted) logs.Reason {
	switch {
	case u.Why != logs.Reason{}:
		return u.Why
	case u.Source.Pod.IsTerminal():
		return logs.Reason{Reason: "its pod ended first"}
	}
	return logs.Reason{Reason: "its pod is " + jobprinter.OrNone(string(u.Source.Pod.Phase))}
}

// missing prints to stderr what a first look at the pods lacks.
func (p *logsOutput) missing(found logs.Found) {
	present := map[corev1.PodPhase]int32{}
	var indexes []int32
	for _, pod := range found.Pods {
		present[pod.Phase]++
		indexes = append(indexes, pod.Index)
	}
	for _, name := range p.o.unknown {
		fmt.Fprintf(p.o.ErrOut, "The pod template of %s has no container %q.\n", p.o.jobLabel(), cmdutil.OneLine(name))
	}
	switch {
	case p.o.options.Indexes != nil:
		p.missingIndexes(p.o.options.Indexes.Difference(indexset.Of(indexes...)))
	default:
		p.gone("failed", p.o.job.Status.Failed-present[corev1.PodFailed])
		if !p.o.options.Failed {
			p.gone("succeeded", p.o.job.Status.Succeeded-present[corev1.PodSucceeded])
		}
	}
	switch {
	case len(found.Pods) == 0:
		p.noPods()
	case len(found.Sources) == 0:
		p.noLogs(present[corev1.PodFailed] > 0)
	}
}

// noLogs prints why the existing pods have no logs.
func (p *logsOutput) noLogs(anyFailed bool) {
	switch o := p.o.options; {
	case o.Failed && o.Previous && anyFailed:
		fmt.Fprintf(p.o.ErrOut, "No container of a failed pod of %s has been restarted, so there is no previous log; omit --previous.\n", p.o.jobLabel())
	case o.Failed:
		fmt.Fprintf(p.o.ErrOut, "No existing pod of %s has failed.\n", p.o.jobLabel())
	case o.Previous:
		fmt.Fprintf(p.o.ErrOut, "No container of %s has been restarted.\n", p.o.jobLabel())
	}
}

func (p *logsOutput) gone(how string, count int32) {
	switch {
	case count == 1:
		fmt.Fprintf(p.o.ErrOut, "1 %s pod of %s is gone, along with its logs.\n", how, p.o.jobLabel())
	case count > 1:
		fmt.Fprintf(p.o.ErrOut, "%s pods of %s are gone, along with their logs.\n", wording.Count(count, how), p.o.jobLabel())
	}
}

// missingIndexes distinguishes indexes whose pods are gone from those that had none yet.
func (p *logsOutput) missingIndexes(missing indexset.Set) {
	job, limit := p.o.job, int32(0)
	if job.Spec.Completions != nil {
		limit = *job.Spec.Completions
	}
	ended, _ := indexset.ParseTolerant(job.Status.CompletedIndexes, limit)
	if job.Status.FailedIndexes != nil {
		failed, _ := indexset.ParseTolerant(*job.Status.FailedIndexes, limit)
		ended = ended.Union(failed)
	}
	p.indexes(missing.Intersection(ended), "is gone, along with its logs", "are gone, along with their logs")
	p.indexes(missing.Difference(ended), "does not exist at the moment", "do not exist at the moment")
}

func (p *logsOutput) indexes(set indexset.Set, one, many string) {
	text := explain.Crop(set.String(), jobprinter.IndexesLimit)
	switch set.Len() {
	case 0:
	case 1:
		fmt.Fprintf(p.o.ErrOut, "The pod of index %s of %s %s.\n", text, p.o.jobLabel(), one)
	default:
		fmt.Fprintf(p.o.ErrOut, "The pods of indexes %s of %s %s.\n", text, p.o.jobLabel(), many)
	}
}

// noPods prints what the Job waits for.
func (p *logsOutput) noPods() {
	view := jobprinter.Row{Job: p.o.job, Now: p.o.Now()}
	state := analysis.Status(p.o.job)
	if analysis.IsNeglected(view.Job, view.Now) {
		state = "managed by " + view.ManagedBy()
	}
	text := fmt.Sprintf("%s has no pods (%s)", p.o.jobLabel(), cmdutil.OneLine(state))
	if p.o.follow && feed.EndOf(p.o.job, "") == "" {
		text += ", waiting for them"
	}
	fmt.Fprintln(p.o.ErrOut, text+".")
}

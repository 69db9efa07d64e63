package logs

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/logprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// output prints logs, and notices about missing logs of the Jobs.
type output struct {
	*logprinter.Output
	o *Options
}

func newOutput(o *Options, isSimulated func(node string) bool) *output {
	p := &output{o: o, Output: logprinter.NewOutput(o.Out, o.ErrOut, logprinter.Style{
		Prefix: o.prefix, Color: o.color.Display(o.Env).Color, Timestamps: o.options.Timestamps, Follow: o.follow,
		Jobs: len(o.jobs) > 1, Containers: slices.ContainsFunc(o.jobs, (*loggedJob).hasSeveralContainers),
		Concurrency: o.options.Concurrency,
	})}
	p.OnFirstListing, p.IsSimulated = p.missing, isSimulated
	return p
}

func (p *output) OnListing(listing logs.Listing) error {
	if err := p.o.unknownContainers(); err != nil && !p.o.follow && len(listing.Sources) == 0 {
		return err
	}
	return p.Output.OnListing(listing)
}

// missing prints to stderr which logs are missing from the first list of the pods.
func (p *output) missing(listing logs.Listing) {
	if names := p.o.options.Pods; len(names) > 0 {
		for _, name := range names {
			if !slices.ContainsFunc(listing.Pods, func(pod *logs.Pod) bool { return pod.Name == name }) {
				fmt.Fprintf(p.o.ErrOut, "Pod %s is gone, along with its logs.\n", cmdutil.OneLine(name))
			}
		}
		return // Only these pods were requested.
	}
	for _, j := range p.o.jobs {
		own := listing
		own.Pods = slices.DeleteFunc(slices.Clone(listing.Pods), func(pod *logs.Pod) bool { return pod.Job != j.UID })
		j.missing(own)
	}
}

// missing prints notices about the missing logs of a Job. listing.Sources has the logs of all Jobs, so the notice about
// a Job without logs is printed only if no Job has any.
func (j *loggedJob) missing(listing logs.Listing) {
	present := map[corev1.PodPhase]int32{}
	var indexes []int32
	for _, pod := range listing.Pods {
		present[pod.Phase]++
		indexes = append(indexes, pod.Index)
	}
	for _, name := range j.unknown {
		j.note("The pod template of %s has no container %q.", j.label(), cmdutil.OneLine(name))
	}
	switch {
	case j.o.options.Indexes != nil:
		j.missingIndexes(j.o.options.Indexes.Difference(indexset.Of(indexes...)))
	default:
		j.gone("failed", j.Status.Failed-present[corev1.PodFailed])
		if !j.o.options.Failed {
			j.gone("succeeded", j.Status.Succeeded-present[corev1.PodSucceeded])
		}
	}
	switch {
	case len(listing.Pods) == 0 && j.o.options.Indexes == nil:
		j.noPods()
	case len(listing.Pods) > 0 && len(listing.Sources) == 0:
		j.noLogs(present[corev1.PodFailed] > 0)
	}
}

func (j *loggedJob) note(format string, args ...any) { fmt.Fprintf(j.o.ErrOut, format+"\n", args...) }

// noLogs prints why the existing pods have no logs.
func (j *loggedJob) noLogs(anyFailed bool) {
	switch o := j.o.options; {
	case o.Failed && o.Previous && anyFailed:
		j.note("No container of a failed pod of %s has been restarted, so there is no previous log; omit --previous.", j.label())
	case o.Failed:
		j.note("No existing pod of %s has failed.", j.label())
	case o.Previous:
		j.note("No container of %s has been restarted.", j.label())
	}
}

func (j *loggedJob) gone(how string, count int32) {
	switch {
	case count == 1:
		j.note("1 %s pod of %s is gone, along with its logs.", how, j.label())
	case count > 1:
		j.note("%s pods of %s are gone, along with their logs.", wording.Count(count, how), j.label())
	}
}

// missingIndexes distinguishes indexes whose pods are gone from those that had none yet.
func (j *loggedJob) missingIndexes(missing indexset.Set) {
	limit := int32(0)
	if j.Spec.Completions != nil {
		limit = *j.Spec.Completions
	}
	ended, _ := indexset.ParseTolerant(j.Status.CompletedIndexes, limit)
	if j.Status.FailedIndexes != nil {
		failed, _ := indexset.ParseTolerant(*j.Status.FailedIndexes, limit)
		ended = ended.Union(failed)
	}
	j.indexes(missing.Intersection(ended), "is gone, along with its logs", "are gone, along with their logs")
	j.indexes(missing.Difference(ended), "does not exist at the moment", "do not exist at the moment")
}

func (j *loggedJob) indexes(set indexset.Set, one, many string) {
	text := wording.Crop(set.String(), jobprinter.IndexesLimit, "…")
	switch set.Len() {
	case 0:
	case 1:
		j.note("The pod of index %s of %s %s.", text, j.label(), one)
	default:
		j.note("The pods of indexes %s of %s %s.", text, j.label(), many)
	}
}

// noPods prints that the Job has no pods, and its state.
func (j *loggedJob) noPods() {
	view := jobprinter.Row{Job: j.Job, Now: j.o.Now()}
	state := analysis.Status(j.Job)
	if analysis.IsNeglected(view.Job, view.Now) {
		state = "run by " + view.ManagedBy()
	}
	text := fmt.Sprintf("%s has no pods (%s)", j.label(), cmdutil.OneLine(state))
	if j.o.follow && !reconcile.IsFinished(j.Job) {
		text += ", waiting for them"
	}
	j.note("%s.", text)
}

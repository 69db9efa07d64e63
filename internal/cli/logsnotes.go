package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// indexChoice is the value of --index.
type indexChoice struct{ set indexset.Set }

// logNotes tells on stderr of what has no log, each thing once.
type logNotes struct {
	o      *logsOptions
	out    io.Writer
	told   map[string]bool // by container and reason
	groups map[string]*unstartedGroup
	order  []string
}

// unstartedGroup is containers that wait for the same reason.
type unstartedGroup struct {
	why   string
	first string
	count int
}

func newLogNotes(o *logsOptions) *logNotes {
	return &logNotes{o: o, out: o.ErrOut, told: map[string]bool{}, groups: map[string]*unstartedGroup{}}
}

// unstarted notes containers of a pod that have no log, for flush.
func (n *logNotes) unstarted(pod *podLog, containers []*containerLog) {
	for _, c := range containers {
		if n.o.follow && isStarting(pod, c) {
			continue // more is to come
		}
		why := whyUnstarted(pod, c)
		key := string(pod.uid) + "/" + c.name + "/" + reasonOf(why)
		if n.told[key] {
			continue
		}
		n.told[key] = true
		// Messages name the pod or the image; containers with the same reason are one group.
		group := n.groups[reasonOf(why)]
		if group == nil {
			group = &unstartedGroup{why: why, first: sourceName(logSource{pod: pod, container: c.name})}
			n.groups[reasonOf(why)] = group
			n.order = append(n.order, reasonOf(why))
		}
		group.count++
	}
}

func whyUnstarted(pod *podLog, c *containerLog) string {
	switch {
	case c.why != "":
		return c.why
	case pod.why != "":
		return pod.why
	case isTerminal(pod.phase):
		return "its pod ended before"
	}
	return "its pod is " + orNone(string(pod.phase))
}

// isStarting is true for what every pod goes through.
func isStarting(pod *podLog, c *containerLog) bool {
	return pod.why == "" && !isTerminal(pod.phase) && slices.Contains([]string{"", "ContainerCreating", "PodInitializing"}, c.why)
}

func reasonOf(why string) string {
	reason, _, _ := strings.Cut(why, ": ")
	return reason
}

// flush prints a line for each reason that came up.
func (n *logNotes) flush() {
	for _, reason := range n.order {
		group := n.groups[reason]
		others := ""
		if group.count > 1 {
			others = fmt.Sprintf(" (and %d more: %s)", group.count-1, oneLine(reason))
		}
		fmt.Fprintf(n.out, "No log of %s, which has not started: %s%s\n", group.first, oneLine(group.why), others)
	}
	clear(n.groups)
	n.order = nil
}

// pods tells what a picture of all pods lacks.
func (n *logNotes) pods(job *batchv1.Job, book *podBook, sources int) {
	n.flush()
	present := map[corev1.PodPhase]int32{}
	var indexes []int32
	for _, pod := range book.pods {
		present[pod.phase]++
		indexes = append(indexes, pod.index)
	}
	for _, name := range n.o.unknown {
		fmt.Fprintf(n.out, "The pods of %s have no container %q in their template.\n", n.o.jobLabel(), oneLine(name))
	}
	switch {
	case n.o.choice.indexes != nil:
		n.missingIndexes(job, n.o.choice.indexes.set.Difference(indexset.Of(indexes...)))
	default:
		n.gone("failed", job.Status.Failed-present[corev1.PodFailed])
		if !n.o.choice.failed {
			n.gone("succeeded", job.Status.Succeeded-present[corev1.PodSucceeded])
		}
	}
	switch {
	case len(book.pods) == 0:
		n.noPods(job)
	case sources == 0 && n.o.choice.failed:
		fmt.Fprintf(n.out, "No pod of %s that is there has failed.\n", n.o.jobLabel())
	case sources == 0 && n.o.choice.previous:
		fmt.Fprintf(n.out, "No container of %s has been restarted.\n", n.o.jobLabel())
	}
}

func (n *logNotes) gone(how string, count int32) {
	switch {
	case count == 1:
		fmt.Fprintf(n.out, "1 %s pod of %s is gone, and its logs with it.\n", how, n.o.jobLabel())
	case count > 1:
		fmt.Fprintf(n.out, "%d %s pods of %s are gone, and their logs with them.\n", count, how, n.o.jobLabel())
	}
}

// missingIndexes tells indexes whose pods are gone from those that had none yet.
func (n *logNotes) missingIndexes(job *batchv1.Job, missing indexset.Set) {
	limit := int32(0)
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

func (n *logNotes) indexes(set indexset.Set, one, many string) {
	text := explain.Crop(set.String(), indexesLimit)
	switch set.Len() {
	case 0:
	case 1:
		fmt.Fprintf(n.out, "The pod of index %s of %s is %s.\n", text, n.o.jobLabel(), one)
	default:
		fmt.Fprintf(n.out, "The pods of indexes %s of %s are %s.\n", text, n.o.jobLabel(), many)
	}
}

// noPods says what the Job waits for.
func (n *logNotes) noPods(job *batchv1.Job) {
	view := jobView{job: job, now: n.o.env.now()}
	state := explain.Status(job)
	if explain.IsNeglected(view.job, view.now) {
		state = "managed by " + managedByCell(view)
	}
	text := fmt.Sprintf("%s has no pods (%s)", n.o.jobLabel(), oneLine(state))
	if n.o.follow && feed.EndOf(job, "") == "" {
		text += ", waiting for them"
	}
	fmt.Fprintln(n.out, text+".")
}

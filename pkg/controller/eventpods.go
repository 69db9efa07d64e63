package controller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/eventwriter"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Reasons of events about pods.
const (
	eventPodCreated    = "SuccessfulCreate"
	eventPodDeleted    = "SuccessfulDelete"
	eventNotCreated    = "FailedCreate"
	eventNotDeleted    = "FailedDelete"
	eventPodNotPatched = "FailedPatch"
	// eventPodFailed is the reason of the events about causes of failures: one event per cause, which also counts pods that are deleted later.
	eventPodFailed = "PodFailed"
)

// podEvents collects the results of one stage's operations that events report. The events are emitted when all
// operations are done, so that five hundred pods are one event (SCL-03).
type podEvents struct {
	mu               sync.Mutex
	created, deleted []string
	notCreated       []error
	failed           []failedOperation
	// ignored holds the failed pods that were released because a rule ignores the failure.
	ignored map[types.UID]bool
}

// failedOperation is a write to a pod that failed.
type failedOperation struct {
	pod  reconcile.PodRef
	verb podVerb
	err  error
}

// podVerb describes an operation on a pod, in the middle of a sentence.
type podVerb string

const (
	verbDelete  podVerb = "deleting"
	verbRelease podVerb = "removing the finalizer of"
	verbAdopt   podVerb = "adopting"
	verbDisown  podVerb = "releasing"
)

func (n *podEvents) podCreated(name string) { n.with(func() { n.created = append(n.created, name) }) }

func (n *podEvents) podDeleted(name string) { n.with(func() { n.deleted = append(n.deleted, name) }) }

func (n *podEvents) creationFailed(err error) {
	n.with(func() { n.notCreated = append(n.notCreated, err) })
}

func (n *podEvents) operationFailed(pod reconcile.PodRef, verb podVerb, err error) {
	n.with(func() { n.failed = append(n.failed, failedOperation{pod, verb, err}) })
}

func (n *podEvents) failureIgnored(pod types.UID) {
	n.with(func() {
		if n.ignored == nil {
			n.ignored = map[types.UID]bool{}
		}
		n.ignored[pod] = true
	})
}

func (n *podEvents) with(do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	do()
}

// emitPodEvents emits events about the operations of a stage (JOB-47).
func (s *stage) emitPodEvents(plan *reconcile.Plan) {
	if s.config.Recorder == nil || s.job.Name == "" {
		return // The Job is gone, and its name is unknown.
	}
	events := s.events()
	events.pods(eventPodCreated, "Created", s.news.created)
	events.pods(eventPodDeleted, "Deleted", s.news.deleted)
	if len(s.news.notCreated) > 0 {
		events.emit(event{corev1.EventTypeWarning, eventNotCreated, "Error creating: " + creationError(s.news.notCreated)})
	}
	events.failed(s.news.failed)
	var ignored []reconcile.FailedPod
	for _, p := range plan.Findings.Verdicts {
		if s.news.ignored[p.Pod.UID] {
			ignored = append(ignored, p)
		}
	}
	events.causes(ignored, plan.Findings.RuleNames)
}

// pods emits one event per pod for a few pods, otherwise one event for all.
func (r reporter) pods(reason, verb string, names []string) {
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	if a, is := r.recorder.(aggregator); is {
		a.Pods(r.job, reason, verb, names)
		return
	}
	for _, message := range eventwriter.PodMessages(verb, names) {
		r.emit(event{corev1.EventTypeNormal, reason, message})
	}
}

// creationError returns a single text for the errors of a stage's creations, which are usually all the same. It omits
// the generated name of the pod, so that the same error always results in the same event.
func creationError(errs []error) string {
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, withoutName(err))
	}
	return slices.Min(texts)
}

// withoutName returns the text of an error without the name of the object.
func withoutName(err error) string {
	if name := cluster.DetailsOf(err).Name; name != "" {
		return strings.ReplaceAll(err.Error(), ` "`+name+`"`, "")
	}
	return err.Error()
}

// failed emits events about pods that could not be changed (REG-31): for deletions
// every time, for other operations once per pod, error and process, and not for transient
// errors.
func (r reporter) failed(failed []failedOperation) {
	slices.SortFunc(failed, func(a, b failedOperation) int { return cmp.Compare(a.pod.Name, b.pod.Name) })
	type sameError struct {
		verb podVerb
		text string
	}
	groups := map[sameError][]failedOperation{}
	for _, f := range failed {
		same := sameError{f.verb, withoutName(f.err)}
		if f.verb == verbDelete || isLasting(f.err) && r.isFirst(string(f.verb)+"\n"+string(f.pod.UID)+"\n"+same.text) {
			groups[same] = append(groups[same], f)
		}
	}
	order := slices.SortedFunc(maps.Keys(groups), func(a, b sameError) int {
		return cmp.Or(cmp.Compare(a.verb, b.verb), cmp.Compare(a.text, b.text))
	})
	for _, same := range order {
		r.emit(failedEvent(groups[same]))
	}
}

// failedEvent returns the event for operations of one kind with the same error.
func failedEvent(same []failedOperation) event {
	first, others := same[0], ""
	if n := len(same) - 1; n > 0 {
		others = fmt.Sprintf(" (and %d more)", n)
	}
	if first.verb == verbDelete {
		return event{corev1.EventTypeWarning, eventNotDeleted, fmt.Sprintf("Error deleting: pod %s%s: %v", first.pod.Name, others, first.err)}
	}
	return event{corev1.EventTypeWarning, eventPodNotPatched, fmt.Sprintf("Error %s pod %s%s: %v", first.verb, first.pod.Name, others, first.err)}
}

// isLasting reports whether an error is not transient. An internal error may be transient, but a broken webhook returns
// the same error; conflicts arrive here only after several in a row.
func isLasting(err error) bool {
	return !cluster.IsTransient(err) || apierrors.IsInternalError(err) || apierrors.IsConflict(err)
}

// causes counts failed pods by the cause of their failure, in events.
func (r reporter) causes(failed []reconcile.FailedPod, names rulename.Names) {
	if r.recorder == nil {
		return
	}
	pods := map[cause.Cause][]string{}
	for _, f := range failed {
		c := cause.Of(f.Pod, f.Match, names)
		pods[c] = append(pods[c], f.Pod.Name)
	}
	byText := func(a, b cause.Cause) int { return cmp.Compare(a.Text(), b.Text()) }
	for _, c := range slices.SortedFunc(maps.Keys(pods), byText) {
		record, n := cause.Record{Cause: c, Pod: slices.Min(pods[c])}, len(pods[c])
		if a, is := r.recorder.(aggregator); is {
			a.Failures(r.job, eventPodFailed, record, n)
		} else {
			r.recorder.AnnotatedEventf(r.job, record.Annotations(), corev1.EventTypeWarning, eventPodFailed, "%s", eventwriter.Truncate(record.Message()))
		}
	}
}

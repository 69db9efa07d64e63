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

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Reasons of events about writes to pods.
const (
	eventPodCreated    = "SuccessfulCreate"
	eventPodDeleted    = "SuccessfulDelete"
	eventNotCreated    = "FailedCreate"
	eventNotDeleted    = "FailedDelete"
	eventPodNotPatched = "FailedPatch"
)

// podNews is what the operations of one stage brought that is worth an event. It is told
// when all of them are over: five hundred pods are one event (SCL-03).
type podNews struct {
	mu               sync.Mutex
	created, deleted []string
	notCreated       []error
	failed           []failedOperation
	// ignored are failed pods that were let go because a rule ignores the failure.
	ignored map[types.UID]bool
}

// failedOperation is a write to a pod that the API server did not take.
type failedOperation struct {
	pod  reconcile.PodRef
	verb podVerb
	err  error
}

// podVerb is what was done to a pod, in the middle of a sentence.
type podVerb string

const (
	verbDelete  podVerb = "deleting"
	verbRelease podVerb = "removing the finalizer of"
	verbAdopt   podVerb = "adopting"
	verbDisown  podVerb = "letting go of"
)

func (n *podNews) podCreated(name string) { n.with(func() { n.created = append(n.created, name) }) }
func (n *podNews) podDeleted(name string) { n.with(func() { n.deleted = append(n.deleted, name) }) }
func (n *podNews) creationFailed(err error) {
	n.with(func() { n.notCreated = append(n.notCreated, err) })
}

func (n *podNews) operationFailed(pod reconcile.PodRef, verb podVerb, err error) {
	n.with(func() { n.failed = append(n.failed, failedOperation{pod, verb, err}) })
}

func (n *podNews) failureIgnored(pod types.UID) {
	n.with(func() {
		if n.ignored == nil {
			n.ignored = map[types.UID]bool{}
		}
		n.ignored[pod] = true
	})
}

func (n *podNews) with(do func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	do()
}

// tell says what the operations of the stage brought (JOB-47).
func (s *stage) tell(plan *reconcile.Plan) {
	if s.config.Recorder == nil || s.job.Name == "" {
		return // A Job that is gone, and not even its name is known.
	}
	s.sayPods(eventPodCreated, "Created", s.news.created)
	s.sayPods(eventPodDeleted, "Deleted", s.news.deleted)
	if len(s.news.notCreated) > 0 {
		s.say(event{corev1.EventTypeWarning, eventNotCreated, "Error creating: " + creationError(s.news.notCreated)})
	}
	s.sayFailed(s.news.failed)
	var ignored []reconcile.FailedPod
	for _, p := range plan.Findings.Verdicts {
		if s.news.ignored[p.Pod.UID] {
			ignored = append(ignored, p)
		}
	}
	s.sayCauses(ignored, plan.Findings.RuleNames)
}

// sayPods tells of pods: of each if they are few, and else of all at once.
func (s *jobSync) sayPods(reason, verb string, names []string) {
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	if a, is := s.config.Recorder.(aggregator); is {
		a.pods(s.job, reason, verb, names)
		return
	}
	if len(names) > namedPods {
		s.say(event{corev1.EventTypeNormal, reason, podsText(verb, names, len(names))})
		return
	}
	for _, name := range names {
		s.say(event{corev1.EventTypeNormal, reason, podsText(verb, []string{name}, 1)})
	}
}

// creationError is one error of those that stood against the pods of one stage: as a rule
// they are all the same. The name that the API server made up for a pod that did not come
// into being is left out: it means nothing, and without it the same error is one event.
func creationError(errs []error) string {
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, withoutName(err))
	}
	return slices.Min(texts)
}

// withoutName is the text of an error without the name of the object that it is about.
func withoutName(err error) string {
	if name := detailsOf(err).Name; name != "" {
		return strings.ReplaceAll(err.Error(), ` "`+name+`"`, "")
	}
	return err.Error()
}

// sayFailed tells of pods that could not be changed (REG-31): of deletions whenever they
// fail, of others once for each pod and error of a process, and not of errors that pass by
// themselves.
func (s *jobSync) sayFailed(failed []failedOperation) {
	slices.SortFunc(failed, func(a, b failedOperation) int { return cmp.Compare(a.pod.Name, b.pod.Name) })
	type sameError struct {
		verb podVerb
		text string
	}
	groups := map[sameError][]failedOperation{}
	for _, f := range failed {
		same := sameError{f.verb, withoutName(f.err)}
		if f.verb == verbDelete || isWorthTelling(f.err) && s.isUnsaid(string(f.verb)+"\n"+string(f.pod.UID)+"\n"+same.text) {
			groups[same] = append(groups[same], f)
		}
	}
	order := slices.SortedFunc(maps.Keys(groups), func(a, b sameError) int {
		return cmp.Or(cmp.Compare(a.verb, b.verb), cmp.Compare(a.text, b.text))
	})
	for _, same := range order {
		s.say(failedEvent(groups[same]))
	}
}

// failedEvent is about operations of one kind that had the same error.
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

// isWorthTelling says that an error will not pass by itself. An internal error may, but
// that is also what a broken webhook looks like; and conflicts only count after several.
func isWorthTelling(err error) bool {
	return !isPassing(err) || apierrors.IsInternalError(err) || apierrors.IsConflict(err)
}

package differences

import (
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

const ruleReason = "PodFailurePolicy"

// alignRuleNames removes the rule's name from our reason (KEP-4443: PodFailurePolicy_NAME).
func alignRuleNames(p *Pair) {
	if p.Spec.PodFailurePolicy == nil {
		return
	}
	p.Ours, p.BuiltIn = p.Ours.Clone(), p.BuiltIn.Clone()
	for i, c := range p.Ours.Conditions {
		if strings.HasPrefix(c.Reason, ruleReason+"_") {
			p.Ours.Conditions[i].Reason = ruleReason
		}
	}
}

// alignLastFailure removes the last failure from the messages of our conditions.
func alignLastFailure(p *Pair) {
	p.Ours = p.Ours.Clone()
	for i, c := range p.Ours.Conditions {
		p.Ours.Conditions[i].Message = WithoutLastFailure(c.Reason, c.Message)
	}
}

// WithoutLastFailure returns the message of a condition without the last failure, which our message names.
func WithoutLastFailure(reason, message string) string {
	if reason == batchv1.JobReasonBackoffLimitExceeded {
		message, _, _ = strings.Cut(message, "; ")
	}
	return message
}

// alignHeadOfLine accepts whatever follows from the order in which indexes get their places: the Job has a back-off limit
// per index, fewer places than indexes, and an index that has failed four times and gives up its place. Different orders
// soon lead to different counts, so nothing else is compared.
func alignHeadOfLine(p *Pair) {
	s := p.Spec
	if s.BackoffLimitPerIndex == nil || s.Completions == nil || *s.Parallelism >= *s.Completions {
		return
	}
	givesUpPlace := func(pod Pod) bool { return isOver(pod) && pod.failuresBefore() >= 3 || pod.failuresBefore() > 3 }
	if slices.ContainsFunc(slices.Concat(p.Ours.Pods, p.BuiltIn.Pods), givesUpPlace) {
		p.BuiltIn = p.Ours.Clone()
	}
}

// alignSuspendedEnd accepts our terminal condition of a suspended Job, which the API server refuses to the built-in
// controller without a startTime, and the startTime itself, which our Job gets when its end is decided.
func alignSuspendedEnd(p *Pair) {
	if !p.Ours.decided() {
		return
	}
	s := p.Spec.Suspend
	suspended := s != nil && *s
	if p.BuiltIn.decided() && !p.BuiltIn.Finished() && p.BuiltIn.Condition(batchv1.JobSuspended) != nil && p.Ours.Condition(batchv1.JobSuspended) != nil {
		suspended = suspended || !p.BuiltIn.Started
		p.BuiltIn.Started = p.Ours.Started // The condition stays true if the Job is resumed now.
	}
	if suspended && p.Ours.Finished() && (!p.BuiltIn.Finished() || !p.BuiltIn.Started) {
		p.BuiltIn = p.Ours.Clone()
	}
}

// alignResumedDeleted accepts a startTime of the built-in controller's Job that was resumed while it was being deleted, and
// has not started: its condition Suspended is true.
func alignResumedDeleted(p *Pair) {
	if p.Deleted && p.BuiltIn.Started && p.BuiltIn.Condition(batchv1.JobSuspended) != nil && p.Ours.Condition(batchv1.JobSuspended) != nil {
		p.BuiltIn.Started = p.Ours.Started
	}
}

// alignRefusedCount accepts a Job whose status the API server refuses to the built-in controller, because succeeded would
// shrink: completions have been lowered together with parallelism, and then only one of them.
func alignRefusedCount(p *Pair) {
	s := p.Spec
	if s.Completions == nil || *s.Parallelism == *s.Completions || p.BuiltIn.Finished() {
		return
	}
	if slices.ContainsFunc(p.Steps, func(step string) bool { return strings.Contains(step, "completions and parallelism") }) &&
		p.BuiltIn.Succeeded > *s.Completions {
		p.BuiltIn = p.Ours.Clone()
	}
}

// alignDeletedJob accepts that a pod which ends after the deletion of its Job fails the built-in controller's Job by a
// rule.
func alignDeletedJob(p *Pair) {
	c := p.BuiltIn.Condition(batchv1.JobFailed)
	if p.Deleted && p.Spec.PodFailurePolicy != nil && c != nil && c.Reason == ruleReason && !p.Ours.Finished() {
		p.BuiltIn = p.Ours.Clone()
	}
}

// alignRestart accepts that the sides differ in their active pods because the back-off of a Job has another length: after
// a restart of our controller, it follows from the failed pods that exist, and the built-in controller, which was not
// restarted, remembers those that do not. Everything else must be the same.
func alignRestart(p *Pair) {
	if p.Spec.BackoffLimitPerIndex != nil || !p.MayRestart {
		return
	}
	ours := p.BuiltIn.Clone()
	ours.Active, ours.Ready, ours.Created = p.Ours.Active, p.Ours.Ready, p.Ours.Created
	ours.Pods = append(p.BuiltIn.podsThat(isOver), p.Ours.podsThat(isActive)...)
	if slices.SortFunc(ours.Pods, ComparePods); ours.Equal(p.Ours) {
		p.BuiltIn = p.Ours.Clone()
	}
}

// last returns the last step.
func (p *Pair) last() string {
	if len(p.Steps) == 0 {
		return ""
	}
	return p.Steps[len(p.Steps)-1]
}

// alignReaction accepts the effects of an early reaction to several pods that end at once: we may react to the first ones
// before the others have ended. If these end the Job, the others may be deleted, or the Job may end for another reason: the
// first success may meet a successPolicy, before the last one completes a Job with failed indexes. A Job that fails may have
// fewer failed indexes. If some pods succeed and
// some fail, or their node is lost, so that the first ones may be replaced, their numbers may differ, too, and another limit
// may be exceeded first.
func alignReaction(p *Pair) {
	if !strings.HasSuffix(p.last(), AtOnce) || !p.Ours.decided() || !p.BuiltIn.decided() {
		return
	}
	ours := p.Ours.Condition(batchv1.JobSuccessCriteriaMet)
	switch {
	case strings.HasPrefix(p.last(), MixedEnds), strings.HasPrefix(p.last(), NodeLost),
		ours != nil && ours.Reason == batchv1.JobReasonSuccessPolicy:
		p.BuiltIn = p.Ours
		return
	}
	p.Ours, p.BuiltIn = p.Ours.Clone(), p.BuiltIn.Clone()
	if fewerIndexes(p.Ours.FailedIndexes, p.BuiltIn.FailedIndexes) { // The other pods were stopped.
		p.BuiltIn.FailedIndexes = p.Ours.FailedIndexes
	}
	for _, s := range []*State{&p.Ours, &p.BuiltIn} {
		s.Pods = slices.DeleteFunc(s.Pods, func(pod Pod) bool { return isOver(pod) && !pod.Tracked })
		for i, c := range s.Conditions {
			if strings.HasPrefix(c.Reason, ruleReason) { // The message names the first pod.
				s.Conditions[i].Reason, s.Conditions[i].Message = ruleReason, ""
			}
		}
	}
}

// fewerIndexes reports whether some of all are part, and no other index is.
func fewerIndexes(part, all string) bool {
	a, err := indexset.Parse(part)
	b, other := indexset.Parse(all)
	return err == nil && other == nil && !a.IsEmpty() && a.Difference(b).IsEmpty()
}

// decided reports whether it is certain how the Job ends.
func (s State) decided() bool {
	return s.Finished() || s.Condition(batchv1.JobFailureTarget) != nil || s.Condition(batchv1.JobSuccessCriteriaMet) != nil
}

// alignOutOfRange accepts that the built-in controller keeps the finalizer of a terminating pod until it has ended, although
// its index is out of range, so that it is not counted. Until then, the pod may take the place of others.
func alignOutOfRange(p *Pair) {
	if p.Spec.Completions == nil || *p.Spec.CompletionMode != batchv1.IndexedCompletion {
		return
	}
	kept := func(pod Pod) bool { return pod.Terminating && pod.Tracked && pod.Index >= int(*p.Spec.Completions) }
	if slices.ContainsFunc(p.BuiltIn.Pods, kept) && !slices.ContainsFunc(p.Ours.Pods, kept) {
		p.BuiltIn = p.Ours
	}
}

// alignEqualPods accepts that other pods are removed when parallelism is lowered, if there are as many in each phase.
func alignEqualPods(p *Pair) {
	if !strings.HasPrefix(p.last(), "set parallelism") {
		return
	}
	ours, builtIn := p.Ours.Clone(), p.BuiltIn.Clone()
	for _, s := range []*State{&ours, &builtIn} {
		for i := range s.Pods {
			s.Pods[i].Index = 0
		}
		slices.SortFunc(s.Pods, ComparePods)
	}
	if ours.Equal(builtIn) {
		p.BuiltIn = p.Ours
	}
}

// alignOrphan accepts the effects of the built-in controller's release of any pod without an owner, also of our pods: our
// controller deletes a running pod that has lost its finalizer, and does not count one that has ended.
func alignOrphan(p *Pair) {
	if !strings.HasPrefix(p.last(), Orphan) || len(p.Ours.Conditions) != len(p.BuiltIn.Conditions) {
		return
	}
	released := func(pod Pod) bool {
		return pod.Owned && pod.Terminating && !pod.Tracked || !pod.Owned && isOver(pod)
	}
	counted := func(s State) int32 { return s.Succeeded + s.Failed }
	if len(p.Ours.podsThat(released)) > len(p.BuiltIn.podsThat(released)) || counted(p.Ours)+1 == counted(p.BuiltIn) {
		p.BuiltIn = p.Ours
	}
}

// Steps that differences depend on. Orphan removes an owner, and AtOnce is the
// end of the steps that end several pods.
const (
	AtOnce = " at once"
	// NodeLost is the step in which the pods of a node fail together.
	NodeLost = "delete the node, whose pods fail" + AtOnce
	// MixedEnds is the step in which some pods may succeed and some may fail.
	MixedEnds = "end all pods" + AtOnce
	Orphan    = "remove the owner of a pod"
)

// failuresBefore returns the number of failures of the pod's index before it, also ignored ones.
func (p Pod) failuresBefore() int {
	failures, _ := strconv.Atoi(p.Failures) // A pod without the annotation has none.
	ignored, _ := strconv.Atoi(p.Ignored)
	return failures + ignored
}

func isActive(p Pod) bool {
	return !p.Terminating && (p.Phase == corev1.PodPending || p.Phase == corev1.PodRunning)
}

func isOver(p Pod) bool { return !isActive(p) }

func (s State) podsThat(wanted func(Pod) bool) (out []Pod) {
	for _, p := range s.Pods {
		if wanted(p) {
			out = append(out, p)
		}
	}
	return out
}

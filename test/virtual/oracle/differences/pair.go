package differences

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// Pair is a Job that both controllers have run, and the states of both at the same moment.
type Pair struct {
	// Spec is the current spec of both Jobs, without managedBy.
	Spec batchv1.JobSpec
	// RuleNames is the annotation that names the rules of the podFailurePolicy (KEP-4443).
	RuleNames string
	// Deleted reports whether the Job was deleted, and exists because of a finalizer.
	Deleted bool
	// MayRestart reports whether our controller may have been restarted: other pairs share its process, and a leader that is
	// busy may lose its Lease.
	MayRestart bool
	// Steps are the steps so far.
	Steps         []string
	Ours, BuiltIn State
}

// State is the part of a Job's state that users can rely on: no times, and no generated names.
type State struct {
	// Gone reports that there is no such Job.
	Gone bool
	// Started and Ended report whether startTime and completionTime are set.
	Started, Ended bool
	// Conditions are sorted by type. In a message, a pod's name is PODNAME, with the index in an Indexed Job.
	Conditions                                    []model.Condition
	Active, Ready, Terminating, Succeeded, Failed int32
	// UncountedSucceeded and UncountedFailed are the numbers of pods in uncountedTerminatedPods.
	UncountedSucceeded, UncountedFailed int
	CompletedIndexes, FailedIndexes     string
	// Pods are the existing pods, sorted.
	Pods []Pod
	// Created has the number of pods created so far, by completion index; -1 is for Jobs without indexes.
	Created map[int]int
}

// Pod is a pod of a Job.
type Pod struct {
	// Index is the completion index, or -1.
	Index       int
	Phase       corev1.PodPhase
	Terminating bool
	// Tracked reports whether the pod has the tracking finalizer, Owned whether the Job is its controller.
	Tracked, Owned bool
	// Failures and Ignored are the annotations with the counts of failures of the index.
	Failures, Ignored string
}

func (p Pod) String() string {
	out := fmt.Sprintf("%d:%s", p.Index, p.Phase)
	for _, flag := range []struct {
		set  bool
		name string
	}{{p.Terminating, "terminating"}, {p.Tracked, "tracked"}, {!p.Owned, "orphan"}} {
		if flag.set {
			out += "," + flag.name
		}
	}
	if p.Failures != "" || p.Ignored != "" {
		out += fmt.Sprintf(",failures=%s+%s", p.Failures, p.Ignored)
	}
	return out
}

// ComparePods orders pods.
func ComparePods(a, b Pod) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.String(), b.String()))
}

// Equal reports whether two states are the same.
func (s State) Equal(other State) bool { return reflect.DeepEqual(s, other) }

// Clone returns a deep copy.
func (s State) Clone() State {
	s.Conditions, s.Pods, s.Created = slices.Clone(s.Conditions), slices.Clone(s.Pods), maps.Clone(s.Created)
	return s
}

// Condition returns the true condition of a type, or nil.
func (s State) Condition(t batchv1.JobConditionType) *model.Condition {
	for i, c := range s.Conditions {
		if c.Type == t && c.Status == corev1.ConditionTrue {
			return &s.Conditions[i]
		}
	}
	return nil
}

// Finished reports whether the Job has a terminal condition.
func (s State) Finished() bool {
	return s.Condition(batchv1.JobComplete) != nil || s.Condition(batchv1.JobFailed) != nil
}

func (s State) String() string {
	if s.Gone {
		return fmt.Sprintf("gone; pods %v; created %v", s.Pods, s.Created)
	}
	var conditions []string
	for _, c := range s.Conditions {
		conditions = append(conditions, fmt.Sprintf("%s=%s %s (%s)", c.Type, c.Status, c.Reason, c.Message))
	}
	return fmt.Sprintf("active %d ready %d terminating %d succeeded %d failed %d; uncounted %d+%d; completed %q failed %q; started %v ended %v\n      conditions: %s\n      pods: %v\n      created: %v",
		s.Active, s.Ready, s.Terminating, s.Succeeded, s.Failed, s.UncountedSucceeded, s.UncountedFailed, s.CompletedIndexes, s.FailedIndexes,
		s.Started, s.Ended, strings.Join(conditions, "; "), s.Pods, s.Created)
}

// Explained returns the names of the differences that make the states of a pair equal, and whether there are any. Equal
// states need none.
func Explained(p Pair) ([]string, bool) {
	if p.Ours.Equal(p.BuiltIn) {
		return nil, true
	}
	var names []string
	together := p
	for _, d := range All() {
		if d.Align == nil {
			continue
		}
		alone := p
		if d.Align(&alone); alone.Ours.Equal(alone.BuiltIn) {
			return []string{d.Name}, true
		}
		before := together
		if d.Align(&together); !before.Ours.Equal(together.Ours) || !before.BuiltIn.Equal(together.BuiltIn) {
			names = append(names, d.Name)
		}
	}
	return names, together.Ours.Equal(together.BuiltIn)
}

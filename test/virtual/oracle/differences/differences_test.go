package differences

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

func TestEveryDifferenceHasARowInTheDocumentation(t *testing.T) {
	t.Parallel()
	for _, d := range All() {
		file, place, _ := strings.Cut(d.Where, ": ")
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", file))
		assert.NoError(t, err)
		if row, _, _ := strings.Cut(place, ";"); !strings.Contains(string(text), "\n| "+row) {
			t.Errorf("%q: no row of %s begins with %q", d.Name, file, row)
		}
	}
}

// failed returns a state with one failure, and changes.
func failed(changes ...func(*State)) State {
	s := State{Started: true, Failed: 1, Pods: []Pod{{Index: -1, Phase: corev1.PodFailed, Owned: true}}, Created: map[int]int{-1: 1}}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// after sets the number of failures before the failed pod.
func after(failures int) func(*State) {
	return func(s *State) { s.Pods[0].Failures = strconv.Itoa(failures) }
}

// has adds conditions with a reason and a message.
func has(reason, message string, types ...batchv1.JobConditionType) func(*State) {
	return func(s *State) {
		for _, t := range types {
			s.Conditions = append(s.Conditions, model.Condition{Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message})
		}
	}
}

func pastLimit(message string) func(*State) {
	return has(batchv1.JobReasonBackoffLimitExceeded, message, batchv1.JobFailed)
}

func failedBy(reason string) func(*State) {
	return has(reason, "", batchv1.JobFailed, batchv1.JobFailureTarget)
}

func succeededBy(reason string) func(*State) { return has(reason, "", batchv1.JobSuccessCriteriaMet) }

func active(s *State) {
	s.Active++
	s.Created[-1]++
	s.Pods = append(s.Pods, Pod{Index: -1, Phase: corev1.PodPending, Tracked: true, Owned: true})
	slices.SortFunc(s.Pods, ComparePods)
}

func over(s *State) { s.Pods = append(s.Pods, Pod{Index: -1, Phase: corev1.PodSucceeded, Owned: true}) }

func runs(index int) func(*State) {
	return func(s *State) { s.Pods = append(s.Pods, Pod{Index: index, Phase: corev1.PodRunning, Owned: true}) }
}

func tracked(index int, tracked bool) func(*State) {
	return func(s *State) {
		s.Pods = append(s.Pods, Pod{Index: index, Phase: corev1.PodRunning, Owned: true, Terminating: true, Tracked: tracked})
	}
}

func lost(indexes string) func(*State) { return func(s *State) { s.FailedIndexes = indexes } }

func released(s *State) {
	s.Pods = append(s.Pods, Pod{Index: -1, Phase: corev1.PodRunning, Owned: true, Terminating: true})
}

// A difference explains itself, and nothing else.
func TestOnlyItsOwnDifferenceIsExplained(t *testing.T) {
	t.Parallel()
	plain := batchv1.JobSpec{Parallelism: ptr.To(int32(2)), Completions: ptr.To(int32(3)), CompletionMode: ptr.To(batchv1.NonIndexedCompletion)}
	with := func(change func(*batchv1.JobSpec)) batchv1.JobSpec {
		spec := *plain.DeepCopy()
		change(&spec)
		return spec
	}
	rules := with(func(s *batchv1.JobSpec) { s.PodFailurePolicy = &batchv1.PodFailurePolicy{} })
	perIndex := with(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To(int32(1)) })
	fewPlaces := with(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex, s.Parallelism = ptr.To(int32(1)), ptr.To(int32(3)) })
	suspended := with(func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) })
	lowered := with(func(s *batchv1.JobSpec) { s.Completions = ptr.To(int32(1)) })
	indexed := with(func(s *batchv1.JobSpec) { s.CompletionMode = ptr.To(batchv1.IndexedCompletion) })
	gone := func(s *State) { s.Started = false }
	suspendedState, failing := has("", "", batchv1.JobSuspended), has("", "", batchv1.JobFailureTarget)
	succeeded := func(n int32) func(*State) { return func(s *State) { s.Succeeded = n } }
	for name, c := range map[string]struct {
		pair Pair
		want string
	}{
		"rule names":                     {Pair{Spec: rules, Ours: failed(failedBy("PodFailurePolicy_A")), BuiltIn: failed(failedBy("PodFailurePolicy"))}, "failure rules have names"},
		"the last failure":               {Pair{Spec: plain, Ours: failed(pastLimit("limit; container main of pod PODNAME failed")), BuiltIn: failed(pastLimit("limit"))}, "the condition names the last failure"},
		"another message":                {Pair{Spec: plain, Ours: failed(pastLimit("limit; container main of pod PODNAME failed")), BuiltIn: failed(pastLimit("another"))}, ""},
		"another reason":                 {Pair{Spec: rules, Ours: failed(failedBy("PodFailurePolicy_A")), BuiltIn: failed(failedBy("BackoffLimitExceeded"))}, ""},
		"a rule name without rules":      {Pair{Spec: plain, Ours: failed(failedBy("PodFailurePolicy_A")), BuiltIn: failed(failedBy("PodFailurePolicy"))}, ""},
		"an index is held up":            {Pair{Spec: perIndex, Ours: failed(after(3), active), BuiltIn: failed(after(3))}, "an index in a long back-off holds up no other"},
		"it is held up for a short time": {Pair{Spec: perIndex, Ours: failed(after(2), active), BuiltIn: failed(after(2))}, ""},
		"there are enough places":        {Pair{Spec: fewPlaces, Ours: failed(after(3), active), BuiltIn: failed(after(3))}, ""},
		"a suspended Job ends":           {Pair{Spec: suspended, Ours: failed(failedBy("x")), BuiltIn: failed(gone)}, "a suspended Job that ends has a startTime"},
		"a suspended Job is failing":     {Pair{Spec: plain, Ours: failed(failing, suspendedState), BuiltIn: failed(failing, suspendedState, gone)}, "a suspended Job that ends has a startTime"},
		"a suspended Job has failed":     {Pair{Spec: plain, Ours: failed(failedBy("x"), suspendedState), BuiltIn: failed(failing, suspendedState, gone)}, "a suspended Job that ends has a startTime"},
		"a Job is failing":               {Pair{Spec: plain, Ours: failed(failing), BuiltIn: failed(failing, gone)}, ""},
		"a suspended Job ends in time":   {Pair{Spec: suspended, Ours: failed(gone), BuiltIn: failed(failedBy("x"))}, ""},
		"a deleted Job is resumed":       {Pair{Spec: plain, Deleted: true, Ours: failed(suspendedState, gone), BuiltIn: failed(suspendedState)}, "a deleted Job does not start when it is resumed"},
		"a Job is resumed":               {Pair{Spec: plain, Ours: failed(suspendedState, gone), BuiltIn: failed(suspendedState)}, ""},
		"a refused count":                {Pair{Spec: lowered, Steps: []string{"set completions and parallelism to 1"}, Ours: failed(succeeded(1)), BuiltIn: failed(succeeded(2))}, "a count that may not shrink is kept"},
		"a count without an edit":        {Pair{Spec: lowered, Ours: failed(succeeded(1)), BuiltIn: failed(succeeded(2))}, ""},
		"a deleted Job fails":            {Pair{Spec: rules, Deleted: true, Ours: failed(), BuiltIn: failed(failedBy("PodFailurePolicy"))}, "a pod that was let go fails no Job"},
		"a Job that exists fails":        {Pair{Spec: rules, Ours: failed(), BuiltIn: failed(failedBy("PodFailurePolicy"))}, ""},
		"a pod is deleted at once":       {Pair{Spec: plain, Steps: []string{"all" + AtOnce}, Ours: failed(failedBy("x")), BuiltIn: failed(failedBy("x"), over)}, "a pod's end has an effect at once"},
		"a pod is deleted later":         {Pair{Spec: plain, Ours: failed(failedBy("x")), BuiltIn: failed(failedBy("x"), over)}, ""},
		"the other pod is removed":       {Pair{Spec: plain, Steps: []string{"set parallelism to 1"}, Ours: failed(active, runs(3)), BuiltIn: failed(active, runs(4))}, "either of two equal pods is removed"},
		"one more pod is removed":        {Pair{Spec: plain, Steps: []string{"set parallelism to 1"}, Ours: failed(active, runs(3)), BuiltIn: failed(active)}, ""},
		"another pod runs":               {Pair{Spec: plain, Ours: failed(active, runs(3)), BuiltIn: failed(active, runs(4))}, ""},
		"an orphan is released":          {Pair{Spec: plain, Steps: []string{Orphan + " (0)"}, Ours: failed(released), BuiltIn: failed(active)}, "the built-in controller releases each orphan"},
		"an ended orphan is released":    {Pair{Spec: plain, Steps: []string{Orphan + " (0)"}, Ours: failed(), BuiltIn: failed(succeeded(1))}, "the built-in controller releases each orphan"},
		"two orphans are released":       {Pair{Spec: plain, Steps: []string{Orphan + " (0)"}, Ours: failed(), BuiltIn: failed(succeeded(2))}, ""},
		"a pod is released":              {Pair{Spec: plain, Ours: failed(released), BuiltIn: failed(active)}, ""},
		"some pods fail first":           {Pair{Spec: plain, Steps: []string{MixedEnds}, Ours: failed(failedBy("x")), BuiltIn: failed(failedBy("y"))}, "a pod's end has an effect at once"},
		"fewer indexes fail":             {Pair{Spec: perIndex, Steps: []string{"all pods fail" + AtOnce}, Ours: failed(failedBy("x"), lost("0")), BuiltIn: failed(failedBy("x"), lost("0-3"))}, "a pod's end has an effect at once"},
		"other indexes fail":             {Pair{Spec: perIndex, Steps: []string{"all pods fail" + AtOnce}, Ours: failed(failedBy("x"), lost("4")), BuiltIn: failed(failedBy("x"), lost("0-3"))}, ""},
		"all pods fail":                  {Pair{Spec: plain, Steps: []string{"all pods fail" + AtOnce}, Ours: failed(failedBy("x")), BuiltIn: failed(failedBy("y"))}, ""},
		"a successPolicy is met first":   {Pair{Spec: plain, Steps: []string{"all pods succeed" + AtOnce}, Ours: failed(succeededBy("SuccessPolicy")), BuiltIn: failed(failedBy("y"))}, "a pod's end has an effect at once"},
		"all pods complete the Job":      {Pair{Spec: plain, Steps: []string{"all pods succeed" + AtOnce}, Ours: failed(succeededBy("CompletionsReached")), BuiltIn: failed(failedBy("y"))}, ""},
		"a node is lost":                 {Pair{Spec: plain, Steps: []string{NodeLost}, Ours: failed(active, failedBy("x")), BuiltIn: failed(failedBy("x"))}, "a pod's end has an effect at once"},
		"an index out of range":          {Pair{Spec: indexed, Ours: failed(tracked(3, false)), BuiltIn: failed(tracked(3, true))}, "a terminating pod out of range is released at once"},
		"an index in range":              {Pair{Spec: indexed, Ours: failed(tracked(2, false)), BuiltIn: failed(tracked(2, true))}, ""},
		"a restart shortens a back-off":  {Pair{Spec: plain, MayRestart: true, Ours: failed(active), BuiltIn: failed()}, "the back-off of a Job follows from its pods"},
		"a back-off without a restart":   {Pair{Spec: plain, Ours: failed(active), BuiltIn: failed()}, ""},
		"a restart changes a count":      {Pair{Spec: plain, MayRestart: true, Ours: failed(active, succeeded(1)), BuiltIn: failed()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, explained := Explained(c.pair)
			if explained != (c.want != "") || explained && !slices.Equal(names, []string{c.want}) {
				t.Errorf("%q explain: %v", names, explained)
			}
		})
	}
}

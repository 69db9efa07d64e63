package whatif_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// storms is the number of random Jobs to replay: go test ./pkg/whatif -run Storms -storms 10000
var storms = flag.Uint64("storms", firstStorms, "replay so many random Jobs")

// firstStorms is the number of seeds whose differences are listed.
const firstStorms = 300

// TestReplayReproducesStorms runs random Jobs in the virtual cluster while the controller crashes and users delete,
// evict, suspend and resume. It then replays the data about them. Only the listed seeds lead to a different result.
// Requirements: WIF-05
func TestReplayReproducesStorms(t *testing.T) {
	for _, tc := range []struct {
		name string
		// known returns the data about the Job and its pods.
		known func(*story) input.Input
		// differ are the seeds that are not reproduced; the comment at each case explains why.
		differ []uint64
		// atLeast is the minimum number of 1,000 seeds that are reproduced.
		atLeast uint64
		// documented is the text after the number in the documentation.
		documented string
	}{
		// Times are in whole seconds. If two pods end within the same second, the outcome may depend on their order.
		{"all pods were seen", (*story).watched, []uint64{45, 49, 65, 104, 226, 279, 291}, 960, " random Jobs"},
		// The time of a pod's deletion is unknown, and so is what it would have done otherwise.
		{"pods that were deleted are gone", (*story).remains, []uint64{10, 34, 37, 49, 73, 94, 104, 105, 142, 147, 161, 162, 169, 175, 183, 201, 226, 247, 251, 260, 269, 272, 278, 279, 291, 292}, 890, " if only those remain"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			same, all := uint64(0), uint64(0)
			for seed := range *storms {
				s := storyOf(seed)
				if s == nil {
					continue
				}
				all++
				differences := replayed(t, tc.known(s))
				if len(differences) == 0 {
					same++
				}
				if listed := slices.Contains(tc.differ, seed); seed < firstStorms && listed != (len(differences) > 0) {
					t.Errorf("seed %d is listed as different: %t, but the replay differs in %q", seed, listed, differences)
				}
			}
			t.Logf("%d of %d random Jobs are reproduced", same, all)
			if *storms == firstStorms {
				documented(t, fmt.Sprint(same, " of ", all, tc.documented))
			}
			if same*1000 < all*tc.atLeast {
				t.Errorf("%d of %d random Jobs are reproduced, want %d of 1,000", same, all, tc.atLeast)
			}
		})
	}
}

// story is a random Job that has finished.
type story struct {
	*rand.Rand
	world  *sim.World
	pods   map[string]*corev1.Pod
	events []input.Event
}

// storyOf returns a finished story, or nil for a Job that does not finish.
func storyOf(seed uint64) *story {
	s := &story{Rand: rand.New(rand.NewPCG(seed, 3)), pods: map[string]*corev1.Pod{}}
	options := sim.Options{Seed: seed, OnCommit: s.committed}
	if s.chance(50) {
		options.Fault = s.fault
	}
	s.world = sim.NewWorld(options)
	job := &batchv1.Job{Spec: s.spec()}
	job.Name = "storm"
	if err := s.world.Play(job, s.script(&job.Spec)); err != nil {
		return nil
	}
	finished := func() bool { return s.world.Finished("storm") }
	for range s.IntN(4) {
		s.world.RunUntil(finished, time.Duration(1+s.IntN(20))*time.Second+s.fraction())
		s.meddle()
	}
	if *s.world.Store.Job("storm").Spec.Suspend {
		s.suspend(false)
	}
	if !s.world.RunUntil(finished, 24*time.Hour) {
		return nil
	}
	return s
}

func (s *story) chance(percent int) bool { return s.IntN(100) < percent }

func (s *story) fraction() time.Duration { return time.Duration(s.IntN(1000)) * time.Millisecond }

// fault returns a fault for one call in twenty.
func (s *story) fault(sim.Call) sim.Fault {
	if !s.chance(5) {
		return sim.Fault{}
	}
	return sim.Fault{Kind: []sim.FaultKind{sim.CrashBefore, sim.CrashAfter, sim.LoseResponse, sim.Fail}[s.IntN(4)]}
}

func (s *story) spec() batchv1.JobSpec {
	n := 1 + s.Int32N(8)
	spec := batchv1.JobSpec{Completions: &n, Parallelism: ptr.To(1 + s.Int32N(n)), BackoffLimit: ptr.To(s.Int32N(7))}
	if s.chance(70) {
		spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		s.indexedPolicies(&spec)
	}
	if s.chance(20) {
		spec.ActiveDeadlineSeconds = ptr.To(10 + s.Int64N(200))
	}
	switch s.IntN(3) {
	case 0:
		spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	case 1:
		spec.PodFailurePolicy = s.failurePolicy(&spec)
		spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	}
	return spec
}

func (s *story) indexedPolicies(spec *batchv1.JobSpec) {
	if s.chance(50) {
		spec.BackoffLimitPerIndex, spec.BackoffLimit = ptr.To(s.Int32N(3)), nil
		if s.chance(50) {
			spec.MaxFailedIndexes = ptr.To(s.Int32N(*spec.Completions + 1))
		}
	}
	if s.chance(25) {
		spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: ptr.To(1 + s.Int32N(*spec.Completions))}}}
	}
}

func (s *story) failurePolicy(spec *batchv1.JobSpec) *batchv1.PodFailurePolicy {
	actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob}
	if spec.BackoffLimitPerIndex != nil {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex)
	}
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: actions[s.IntN(len(actions))], OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}},
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
	}}
}

// script makes each pod run for its own number of seconds.
func (s *story) script(spec *batchv1.JobSpec) sim.Script {
	script := sim.Script{{Index: -1, Act: s.act(0)}}
	indexes := []int32{-1}
	if ptr.Deref(spec.CompletionMode, "") == batchv1.IndexedCompletion {
		indexes = slices.Collect(func(yield func(int32) bool) {
			for i := range *spec.Completions {
				_ = yield(i)
			}
		})
	}
	bad := s.IntN(80)
	for _, index := range indexes {
		for nth := 1; nth <= 5; nth++ {
			script = append(script, sim.Scene{Index: index, Nth: nth, Act: s.act(bad)})
		}
	}
	return script
}

func (s *story) act(bad int) sim.Act {
	act := sim.Act{Run: time.Duration(1+s.IntN(60))*time.Second + s.fraction(), Terminate: time.Duration(s.IntN(5000)) * time.Millisecond, TerminateExit: 143}
	if s.chance(bad) {
		act.Exit = []int32{1, 2, 42, 137}[s.IntN(4)]
	}
	return act
}

// meddle performs a random action of a user.
func (s *story) meddle() {
	var running []string
	for _, pod := range s.world.Store.PodsOf(s.world.Store.Job("storm").UID) {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			running = append(running, pod.Name)
		}
	}
	switch {
	case s.chance(20):
		s.suspend(!*s.world.Store.Job("storm").Spec.Suspend)
	case len(running) == 0:
	case s.chance(50):
		_ = s.world.Store.EvictPod(running[s.IntN(len(running))])
	default:
		_, _ = s.world.Store.DeletePod(running[s.IntN(len(running))], "")
	}
}

func (s *story) suspend(suspend bool) {
	if _, err := s.world.Store.EditJob("storm", func(job *batchv1.Job) { job.Spec.Suspend = &suspend }); err != nil {
		return // It has finished.
	}
	s.event(map[bool]string{true: "Suspended", false: "Resumed"}[suspend], "Job suspended or resumed")
}

func (s *story) event(reason, message string) {
	at := s.world.Now().Truncate(time.Second)
	s.events = append(s.events, input.Event{Type: "Normal", Reason: reason, Message: message, Count: 1, First: at, Last: at})
}

// committed records the pods as a watch shows them, and writes the controller's events.
func (s *story) committed(c sim.Commit) {
	switch {
	case c.NewPod == nil:
	case c.OldPod == nil:
		s.event("SuccessfulCreate", "Created pod: "+c.NewPod.Name)
	case c.Ours() && c.Verb == "delete":
		s.event("SuccessfulDelete", "Deleted pod: "+c.NewPod.Name)
	}
	if c.NewPod != nil {
		s.pods[c.NewPod.Name] = c.NewPod
	}
}

func (s *story) input() input.Input {
	return input.Input{Now: s.world.Now(), OurName: controller.DefaultManagedBy, Job: s.world.Store.Job("storm"), PodsRead: true, EventsRead: true, Events: s.events}
}

// watched returns the data of an observer who has seen all pods.
func (s *story) watched() input.Input {
	in := s.input()
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		in.Pods = append(in.Pods, input.PodOf(s.pods[name]))
	}
	return in
}

// remains returns the data that exist when the Job has finished.
func (s *story) remains() input.Input {
	in := s.input()
	for _, pod := range s.world.Store.PodsOf(in.Job.UID) {
		in.Pods = append(in.Pods, input.PodOf(pod))
	}
	return in
}

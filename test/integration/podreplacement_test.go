package integration

import (
	"net/http"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

func deadline(d time.Duration) jobOption {
	return func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = ptr.To(int64(d / time.Second)) }
}

// What the API server makes of the field of KEP-3939.
func TestAPIServerDefaultsTheReplacementPolicy_PRP_01(t *testing.T) {
	t.Parallel()
	const field = "spec.podReplacementPolicy"
	s := newIdleJobs(t)
	policy := failurePolicy(onExit(batchv1.PodFailurePolicyActionFailJob, 42))
	noRules := failurePolicy()
	for _, c := range []struct {
		what, field string
		options     []jobOption
	}{
		{"TerminatingOrFailed", "", []jobOption{replacedWhen(batchv1.TerminatingOrFailed)}},
		{"Failed", "", []jobOption{replacedWhen(batchv1.Failed)}},
		{"another value", field, []jobOption{replacedWhen("Terminating")}},
		{"no value", field, []jobOption{replacedWhen("")}},
		{"Failed with podFailurePolicy", "", []jobOption{replacedWhen(batchv1.Failed), policy}},
		{"TerminatingOrFailed with podFailurePolicy", field, []jobOption{replacedWhen(batchv1.TerminatingOrFailed), policy}},
		{"TerminatingOrFailed with a podFailurePolicy without rules", field, []jobOption{replacedWhen(batchv1.TerminatingOrFailed), noRules}},
	} {
		s.rejects(c.what, c.field, c.options...)
	}
	plain := s.store("plain")
	for _, c := range []struct {
		job  *batchv1.Job
		want batchv1.PodReplacementPolicy
	}{
		{plain, batchv1.TerminatingOrFailed},
		{s.store("indexed", indexed(2)), batchv1.TerminatingOrFailed},
		{s.store("policy", policy), batchv1.Failed},
		{s.store("no-rules", noRules), batchv1.Failed},
	} {
		if got := ptr.Deref(c.job.Spec.PodReplacementPolicy, ""); got != c.want {
			t.Errorf("Job %s has %q by default, want %q", c.job.Name, got, c.want)
		}
	}
	s.rejectsEdit("Failed, later", "", plain, map[string]any{"podReplacementPolicy": batchv1.Failed})
	s.rejectsEdit("another value, later", field, plain, map[string]any{"podReplacementPolicy": "Never"})
}

// A podFailurePolicy, be it one without rules, means that only failed pods are replaced,
// also when podReplacementPolicy is switched off.
func TestFailurePolicyReplacesFailedOnly_PRP_02_PRP_18(t *testing.T) {
	t.Parallel()
	for name, gate := range gates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startController(gate...)
			f.create(newJob(indexed(2), onNode, failurePolicy()))
			f.kubelet.run(f.untilActive(2)...)
			f.untilCounts("a", counts{active: 2, ready: 2})
			deleted := f.podOfIndex(0)
			f.deletePods(deleted)
			terminating := int32(len(gate) ^ 1)
			f.untilCounts("a", counts{active: 1, ready: 1, terminating: terminating})
			f.wantPodsEver(2)
			f.kubelet.terminate(deleted)
			f.kubelet.run(f.podOfIndex(0))
			f.untilCounts("a", counts{active: 2, ready: 2, failed: 1})
			f.kubelet.play(everySucceeds)
			f.untilComplete("a", 2, 1)
			f.wantPodsEver(3)
		})
	}
}

// Pods that the controller deletes itself are terminating in the write in which they
// are no longer active.
func TestDeletedByController_PRP_09_PRP_11(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(*fixture)
		want counts
	}{
		"suspend":    {func(f *fixture) { f.edit("a", suspend(true)) }, counts{terminating: 3}},
		"scale-down": {func(f *fixture) { f.edit("a", map[string]any{"parallelism": 1}) }, counts{active: 1, ready: 1, terminating: 2}},
		"deadline":   {func(f *fixture) { f.edit("a", map[string]any{"activeDeadlineSeconds": 0}) }, counts{terminating: 3, failed: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.create(newJob(completions(3), parallelism(3), onNode))
			f.kubelet.run(f.untilActive(3)...)
			all := counts{active: 3, ready: 3}
			before := f.untilCounts("a", all)
			writes := p.wire.answered(statusPut, http.StatusOK)
			c.act(f)
			f.untilCounts("a", c.want)
			f.untilPods(int(c.want.terminating), "terminating", history.IsTerminating)
			f.wantSteps(before, all, c.want)
			if n := p.wire.answered(statusPut, http.StatusOK) - writes; n > 2 {
				t.Errorf("%d status writes", n)
			}
		})
	}
}

// The end of a deleted pod that is counted already changes nothing but terminating.
func TestOnlyTerminatingChanges_PRP_10(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(2), onNode))
	f.kubelet.run(f.untilActive(2)...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	deleted := f.podOfIndex(0)
	f.deletePods(deleted)
	before := f.untilJob("a", "has counted the deleted pod", func(job *batchv1.Job) bool {
		return job.Status.Failed == 1 && job.Status.Active == 2
	})
	f.untilPods(2, "tracked", history.IsTracked)
	f.kubelet.terminate(deleted)
	after := f.untilCounts("a", counts{active: 2, ready: 1, failed: 1})
	statuses := f.statuses(before)
	if len(statuses) != 2 || ptr.Deref(before.Status.Terminating, -1) != 1 || ptr.Deref(after.Status.Terminating, -1) != 0 {
		t.Errorf("%d statuses, the last two with terminating %v and %v", len(statuses), before.Status.Terminating, after.Status.Terminating)
	}
}

// anyCall chooses what is done at one time, other than watches.
func anyCall(c call) bool { return !c.watch }

// status.terminating costs no request of its own: what happens when pods are deleted
// takes as many with it as without.
func TestNoRequestsForTerminating_PRP_11(t *testing.T) {
	t.Parallel()
	requests := map[string]map[string]int{}
	for name, gate := range gates {
		f := newFixture(t)
		p := f.startController(append(gate, oneByOne)...)
		f.create(newJob(indexed(2), onNode))
		f.kubelet.run(f.untilActive(2)...)
		f.untilCounts("a", counts{active: 2, ready: 2})
		before := len(p.wire.recorded(anyCall))
		f.deletePods(f.podOfIndex(0))
		f.untilJob("a", "has counted the deleted pod", func(job *batchv1.Job) bool {
			return job.Status.Failed == 1 && job.Status.Active == 2
		})
		f.untilPods(2, "tracked", history.IsTracked)
		p.stop()
		requests[name] = map[string]int{}
		for _, c := range p.wire.recorded(anyCall)[before:] {
			requests[name][c.method+" "+c.resource]++
		}
	}
	for name := range gates {
		for kind, n := range requests[name] {
			if requests["on"][kind] != n || requests["off"][kind] != n {
				t.Fatalf("requests: %v", requests)
			}
		}
	}
}

// Upstream's TestMutablePodResourcesWithPodReplacementPolicyFailed: the template changes
// while the Job is suspended, and no pod of the new one is created before the old are
// gone for good.
func TestResumeWithOtherTemplate_PRP_13(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(4), parallelism(2), onNode, replacedWhen(batchv1.Failed), withFinalizer(foreignFinalizer)))
	old := f.untilActive(2)
	f.kubelet.run(old...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	f.edit("a", suspend(true))
	f.untilCounts("a", counts{terminating: 2})
	f.untilIs("a", batchv1.JobSuspended)
	f.edit("a", map[string]any{"template": map[string]any{"spec": map[string]any{"nodeSelector": map[string]any{"disk": "fast"}}}})
	f.edit("a", suspend(false))
	resumed := f.untilJob("a", "is resumed", func(job *batchv1.Job) bool { return !history.Is(job, batchv1.JobSuspended) })
	f.wantPodsEver(2)
	// One has ended, and may be replaced; that its object is still there does not matter.
	f.kubelet.fail(old[0])
	f.untilCounts("a", counts{active: 1, terminating: 1})
	f.kubelet.fail(old[1])
	f.untilCounts("a", counts{active: 2})
	f.wantSteps(resumed, counts{terminating: 2}, counts{active: 1, terminating: 1}, counts{active: 2})
	for _, pod := range f.untilActive(2) {
		if pod.Spec.NodeSelector["disk"] != "fast" {
			t.Errorf("pod %s is of the old template", pod.Name)
		}
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 4, 0)
	f.wantPodsEver(6)
}

// Upstream's TestDelayTerminalPhaseCondition, for each way a Job can end: the interim
// condition comes at once, the terminal one when the last pod has ended. A Job of ours
// ends like that with podReplacementPolicy switched off, too.
func TestTerminalConditionWaits_PRP_14_PRP_15_MGB_10(t *testing.T) {
	t.Parallel()
	fails := func(f *fixture) { f.kubelet.fail(f.podOfIndex(0)) }
	succeeds := func(f *fixture) { f.kubelet.succeed(f.podOfIndex(0)) }
	for name, c := range map[string]struct {
		options []jobOption
		act     func(*fixture)
		interim counts
		end     batchv1.JobConditionType
		reason  string
	}{
		"backoffLimit": {
			[]jobOption{backoffLimit(0)}, fails,
			counts{terminating: 1, failed: 2}, batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded,
		},
		"backoffLimit, only failed are replaced": {
			[]jobOption{backoffLimit(0), replacedWhen(batchv1.Failed)}, fails,
			counts{terminating: 1, failed: 2}, batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded,
		},
		"deadline": {
			[]jobOption{deadline(time.Hour)}, func(f *fixture) { f.edit("a", map[string]any{"activeDeadlineSeconds": 0}) },
			counts{terminating: 2, failed: 2}, batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded,
		},
		"podFailurePolicy": {
			[]jobOption{failurePolicy(onExit(batchv1.PodFailurePolicyActionFailJob, exitFailure))}, fails,
			counts{terminating: 1, failed: 2}, batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy + "_0",
		},
		"too many failed indexes": {
			[]jobOption{perIndexLimit(0), maxFailedIndexes(0)}, fails,
			counts{terminating: 1, failed: 2}, batchv1.JobFailed, batchv1.JobReasonMaxFailedIndexesExceeded,
		},
		"failed indexes": {
			[]jobOption{perIndexLimit(0)}, func(f *fixture) {
				other := f.podOfIndex(1)
				f.deletePods(f.podOfIndex(0))
				f.kubelet.succeed(other)
			},
			counts{terminating: 1, succeeded: 1, failed: 1}, batchv1.JobFailed, batchv1.JobReasonFailedIndexes,
		},
		"successPolicy": {
			[]jobOption{successPolicy(countSucceeds(1))}, succeeds,
			counts{terminating: 1, succeeded: 1}, batchv1.JobComplete, batchv1.JobReasonSuccessPolicy,
		},
		"completions": {
			[]jobOption{}, func(f *fixture) {
				other := f.podOfIndex(1)
				f.deletePods(f.podOfIndex(0))
				f.kubelet.succeed(other, f.podOfIndex(0))
			},
			counts{terminating: 1, succeeded: 2, failed: 1}, batchv1.JobComplete, batchv1.JobReasonCompletionsReached,
		},
	} {
		for gate, options := range gates {
			t.Run(name+"/gate "+gate, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				f.startController(append(options, oneWorker)...)
				f.create(newJob(append([]jobOption{indexed(2), onNode}, c.options...)...))
				f.kubelet.run(f.untilActive(2)...)
				f.untilCounts("a", counts{active: 2, ready: 2})
				c.act(f)
				// Success is counted at once, and failures when finalizers are gone.
				interim := f.untilIs("a", map[batchv1.JobConditionType]batchv1.JobConditionType{
					batchv1.JobComplete: batchv1.JobSuccessCriteriaMet, batchv1.JobFailed: batchv1.JobFailureTarget,
				}[c.end])
				want := c.interim
				if gate == "off" {
					want.terminating = 0
				}
				if got := countsOf(interim); got != want || history.IsFinished(interim) {
					t.Errorf("with the interim condition the Job counts %+v, want %+v", got, want)
				}
				if nothing := interim.Status.Terminating == nil; nothing != (gate == "off") {
					t.Errorf("terminating is %v", interim.Status.Terminating)
				}
				running := f.untilPods(int(c.interim.terminating), "terminating", history.IsTerminating)
				f.untilReleased()
				f.untilSynced("a")
				if now := f.history.job("a"); history.IsFinished(now) {
					t.Errorf("pods still run: %s", jobLine(now))
				}
				f.kubelet.terminate(running...)
				f.untilFinished("a", c.end, c.reason, c.interim.succeeded, c.interim.failed)
				// The write before the terminal one is of a Job that may be finished.
				all := f.statuses(interim)
				if last := all[len(all)-1]; !history.IsFinished(last) || ptr.Deref(last.Status.Terminating, 0) != 0 {
					t.Errorf("the last status is %s", jobLine(last))
				}
			})
		}
	}
}

// Upstream's numbers: two pods are deleted and fail.
func TestRecreatedPodsAreCountedByReason_PRP_17(t *testing.T) {
	t.Parallel()
	const metric = "job_pods_creation_total"
	for name, c := range map[string]struct {
		policy    batchv1.PodReplacementPolicy
		gate      string
		recreated string
	}{
		"TerminatingOrFailed":           {batchv1.TerminatingOrFailed, "on", metric + "{reason=recreate_terminating_or_failed,status=succeeded}"},
		"Failed":                        {batchv1.Failed, "on", metric + "{reason=recreate_failed,status=succeeded}"},
		"TerminatingOrFailed, gate off": {batchv1.TerminatingOrFailed, "off", metric + "{reason=new,status=succeeded}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			m := f.newMeter()
			f.startController(append(gates[c.gate], m.counts)...)
			f.create(newJob(indexed(2), onNode, replacedWhen(c.policy)))
			pods := f.untilActive(2)
			f.untilCounts("a", counts{active: 2})
			created := metric + "{reason=new,status=succeeded}"
			m.until(map[string]float64{created: 2}, metric)
			f.deletePods(pods...)
			f.kubelet.terminate(pods...)
			f.untilCounts("a", counts{active: 2, failed: 2})
			want := map[string]float64{created: 2}
			want[c.recreated] += 2
			m.until(want, metric)
		})
	}
}

// Each attempt counts once, also one that fails (D-11).
func TestFailedCreationIsCountedOnce_PRP_17(t *testing.T) {
	t.Parallel()
	const metric = "job_pods_creation_total"
	f := newFixture(t)
	m := f.newMeter()
	p := f.startController(m.counts)
	f.untilWorking()
	rejected := p.wire.reject(podPost, http.StatusForbidden)
	f.create(newJob(completions(3), parallelism(3)))
	f.until("creations have failed", func() bool { return rejected.count() > 2 })
	rejected.lift()
	f.untilCounts("a", counts{active: 3})
	m.until(map[string]float64{
		metric + "{reason=new,status=failed}": float64(rejected.count()), metric + "{reason=new,status=succeeded}": 3,
	}, metric)
}

// The policy changes from TerminatingOrFailed to Failed while a pod terminates: it
// stays counted, and the next one that is deleted is waited for.
func TestReplacementPolicyChangesToFailed_PRP_22(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(2), onNode, replacedWhen(batchv1.TerminatingOrFailed)))
	f.kubelet.run(f.untilActive(2)...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	first := f.podOfIndex(0)
	f.deletePods(first)
	f.kubelet.run(f.podOfIndex(0))
	f.untilCounts("a", counts{active: 2, ready: 2, terminating: 1, failed: 1})

	f.edit("a", map[string]any{"podReplacementPolicy": batchv1.Failed})
	f.untilWorking() // The watch that brings this Job has brought the edit before.
	second := f.podOfIndex(1)
	f.deletePods(second)
	f.untilCounts("a", counts{active: 1, ready: 1, terminating: 2, failed: 1})
	f.wantPodsEver(3)
	f.kubelet.terminate(first)
	f.untilCounts("a", counts{active: 1, ready: 1, terminating: 1, failed: 1})
	f.wantPodsEver(3)
	f.kubelet.terminate(second)
	f.kubelet.run(f.podOfIndex(1))
	f.untilCounts("a", counts{active: 2, ready: 2, failed: 2})
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 2)
	f.wantPodsEver(4)
}

package integration

import (
	"fmt"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// wantTargetFirst checks that a pod kept its finalizer until the fate of its Job was
// stored.
func (f *fixture) wantTargetFirst(uid string) {
	f.t.Helper()
	decided := false
	for _, v := range f.history.sorted() {
		switch {
		case v.job != nil:
			decided = decided || history.Is(v.job, batchv1.JobFailureTarget)
		case string(v.pod.UID) == uid && !decided && !history.IsTracked(v.pod):
			f.t.Errorf("pod %s loses its finalizer at revision %d, and the Job has no FailureTarget", v.pod.Name, v.revision)
			return
		}
	}
}

// The controller dies with FailureTarget stored and nothing released; the pod that
// is the reason is deleted before the next one starts.
func TestCrashAfterFailureTargetKeepsTheReason_PFP_08(t *testing.T) {
	t.Parallel()
	for name, deletes := range map[string]func(*fixture, *corev1.Pod){
		"the pod is being deleted": func(f *fixture, pod *corev1.Pod) { f.deletePods(pod) },
		"the pod is gone":          (*fixture).vanish,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.create(newJob(indexed(2), onNode, withRules(2)))
			pods := f.untilActive(2)
			f.kubelet.run(pods...)
			f.untilCounts("a", counts{active: 2, ready: 2})
			p.wire.reject(podPatch, 500)
			p.wire.reject(podDelete, 500)
			f.kubelet.exit(1, pods[0])
			target := history.Condition(f.untilIs("a", batchv1.JobFailureTarget), batchv1.JobFailureTarget)
			p.crash()

			deletes(f, pods[0])
			// The other pod would lead to another reason.
			f.kubelet.exit(2, pods[1])
			f.startController()
			job := f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_0", 0, 2)
			f.wantMessage(job, batchv1.JobFailed, target.Message)
			f.wantMessage(job, batchv1.JobFailed, fmt.Sprintf("Container main for pod %s/%s failed with exit code 1 matching FailJob rule at index 0", f.namespace, pods[0].Name))
			f.wantPodsEver(2)
			f.untilReleased()
		})
	}
}

// Something else fails in the sync that finds the match, and then the pod is gone.
func TestMatchSurvivesAnIncompleteSync_PFP_18(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(f *fixture, p *process, pods []*corev1.Pod) (lift func()){
		"a DELETE fails": func(f *fixture, p *process, pods []*corev1.Pod) func() {
			failing := p.wire.reject(func(c call) bool { return podDelete(c) && c.name == pods[1].Name }, 500)
			f.kubelet.exit(1, pods[0])
			f.until("a DELETE has failed", func() bool { return failing.count() > 0 })
			f.vanish(pods[0])
			again := failing.count()
			f.kubelet.exit(2, pods[2])
			f.until("a DELETE has failed again", func() bool { return failing.count() > again })
			if history.Is(f.history.job("a"), batchv1.JobFailed) {
				f.t.Error("the Job is Failed, and a pod still runs")
			}
			return failing.lift
		},
		"every removal of a finalizer fails": func(f *fixture, p *process, pods []*corev1.Pod) func() {
			failing := p.wire.reject(podPatch, 500)
			f.kubelet.exit(1, pods[0])
			f.until("a removal has failed", func() bool { return failing.count() > 0 })
			f.vanish(pods[0])
			return failing.lift
		},
		"the status write fails": func(f *fixture, p *process, pods []*corev1.Pod) func() {
			failing := p.wire.reject(statusPut, 500)
			f.kubelet.exit(1, pods[0])
			f.until("a status write has failed", func() bool { return failing.count() > 0 })
			f.deletePods(pods[0])
			again := failing.count()
			f.until("a status write has failed again", func() bool { return failing.count() > again })
			if pod := f.history.pod(pods[0].UID); pod == nil || !history.IsTracked(pod) {
				f.t.Error("the pod is let go, and no status tells of it")
			}
			return failing.lift
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.create(newJob(completions(4), parallelism(3), onNode, withRules(2)))
			pods := f.untilActive(3)
			f.kubelet.run(pods...)
			f.untilCounts("a", counts{active: 3, ready: 3})
			disturb(f, p, pods)()

			f.kubelet.play(noneEnds)
			job := f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_0", 0, 3)
			f.wantMessage(job, batchv1.JobFailed, fmt.Sprintf("Container main for pod %s/%s failed with exit code 1 matching FailJob rule at index 0", f.namespace, pods[0].Name))
			f.wantPodsEver(3)
			if name != "every removal of a finalizer fails" {
				f.wantTargetFirst(string(pods[0].UID))
			}
			f.untilReleased()
		})
	}
}

// The match comes up in the middle of a sync, in which something has just failed.
func TestMatchInTheMiddleOfASync_PFP_18(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call        match
		parallelism int
	}{"a creation fails": {podPost, 4}, "the removal of an excess pod fails": {podPatch, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			f.create(named("b", newJob()))
			other := f.podOf("b")
			f.create(newJob(completions(4), parallelism(3), onNode, withRules(1)))
			pods := f.untilPods(3, "of Job a", ofJob("a"))
			f.kubelet.run(pods...)
			f.untilCounts("a", counts{active: 3, ready: 3})
			f.untilCounts("b", counts{active: 1})

			failing := p.wire.holdAndReject(c.call, 500)
			t.Cleanup(failing.lift)
			f.edit("a", map[string]any{"parallelism": c.parallelism})
			f.until("the sync waits for an answer", func() bool { return failing.count() > 0 })
			f.kubelet.exit(1, pods[0])
			// One watch brings both: the controller has seen the failure, too.
			f.kubelet.run(other)
			f.untilCounts("b", counts{active: 1, ready: 1})
			failing.lift()
			f.untilJob("a", "has recorded the failure", func(job *batchv1.Job) bool { return countsOf(job).failed > 0 })
			f.vanish(pods[0])

			f.kubelet.play(noneEnds)
			job := f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_0", 0, 3)
			f.wantMessage(job, batchv1.JobFailed, fmt.Sprintf("Container main for pod %s/%s failed with exit code 1 matching FailJob rule at index 0", f.namespace, pods[0].Name))
			f.wantTargetFirst(string(pods[0].UID))
		})
	}
}

// A container that ended with the code of a rule, and is started again, is no failure:
// its pod has not failed.
func TestContainerIsRestarted_PFP_11(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(backoffLimit(0), withRules(1), func(s *batchv1.JobSpec) {
		c := &s.Template.Spec.Containers[0]
		c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyNever)
		c.RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action:    corev1.ContainerRestartRuleActionRestart,
			ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{1}},
		}}
	}))
	pod := f.untilActive(1)[0]
	f.kubelet.run(pod)
	f.untilCounts("a", counts{active: 1, ready: 1})
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.Now()}}
	again := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
	for _, c := range []struct {
		status corev1.ContainerStatus
		ready  corev1.ConditionStatus
		counts counts
	}{
		{corev1.ContainerStatus{Name: containerName, State: ended}, corev1.ConditionFalse, counts{active: 1}},
		{corev1.ContainerStatus{Name: containerName, State: again, LastTerminationState: ended, RestartCount: 1, Ready: true}, corev1.ConditionTrue, counts{active: 1, ready: 1}},
	} {
		f.kubelet.write(pod, corev1.PodStatus{
			Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{c.status},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: c.ready, LastTransitionTime: metav1.Now()}},
		})
		if job := f.untilCounts("a", c.counts); history.Is(job, batchv1.JobFailureTarget) {
			t.Errorf("the Job fails with a container that ended: %v", job.Status.Conditions)
		}
	}
	f.kubelet.succeed(pod)
	f.untilComplete("a", 1, 0)
	f.wantPodsEver(1)

	s := newIdleJobs(t)
	s.rejects("restartPolicy OnFailure", "spec.template.spec.restartPolicy", withRules(1), func(s *batchv1.JobSpec) {
		s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	})
}

// What the API server takes for a podFailurePolicy, and the controller may rely on.
func TestFailurePoliciesThatAreRejected_PFP_12(t *testing.T) {
	t.Parallel()
	s := newIdleJobs(t)
	const rules, rule = "spec.podFailurePolicy.rules", "spec.podFailurePolicy.rules[0]"
	count := batchv1.PodFailurePolicyActionCount
	codes := func(n int) (list []int32) {
		for i := range n {
			list = append(list, int32(i+1))
		}
		return list
	}
	exits := func(values ...int32) batchv1.PodFailurePolicyRule { return onExit(count, values...) }
	notIn := func(values ...int32) batchv1.PodFailurePolicyRule {
		r := exits(values...)
		r.OnExitCodes.Operator = batchv1.PodFailurePolicyOnExitCodesOpNotIn
		return r
	}
	of := func(container string) batchv1.PodFailurePolicyRule {
		r := exits(1)
		r.OnExitCodes.ContainerName = &container
		return r
	}
	patterns := func(n int) batchv1.PodFailurePolicyRule {
		r := onDisruption(count)
		r.OnPodConditions = slices.Repeat(r.OnPodConditions, n)
		return r
	}
	both := onDisruption(count)
	both.OnExitCodes = exits(1).OnExitCodes
	badOperator := exits(1)
	badOperator.OnExitCodes.Operator = "Near"
	badStatus := onDisruption(count)
	badStatus.OnPodConditions[0].Status = "Maybe"
	for what, c := range map[string]struct {
		field string
		rules []batchv1.PodFailurePolicyRule
	}{
		"20 rules":              {"", slices.Repeat([]batchv1.PodFailurePolicyRule{exits(1)}, 20)},
		"21 rules":              {rules, slices.Repeat([]batchv1.PodFailurePolicyRule{exits(1)}, 21)},
		"255 codes":             {"", []batchv1.PodFailurePolicyRule{exits(codes(255)...)}},
		"256 codes":             {rule + ".onExitCodes.values", []batchv1.PodFailurePolicyRule{exits(codes(256)...)}},
		"no code":               {rule + ".onExitCodes.values", []batchv1.PodFailurePolicyRule{exits()}},
		"not ordered":           {rule + ".onExitCodes.values", []batchv1.PodFailurePolicyRule{exits(2, 1)}},
		"not unique":            {rule + ".onExitCodes.values[1]", []batchv1.PodFailurePolicyRule{exits(2, 2)}},
		"0 for In":              {rule + ".onExitCodes.values[0]", []batchv1.PodFailurePolicyRule{exits(0, 1)}},
		"0 for NotIn":           {"", []batchv1.PodFailurePolicyRule{notIn(0)}},
		"negative":              {"", []batchv1.PodFailurePolicyRule{exits(-1073741510, 137)}},
		"an operator":           {rule + ".onExitCodes.operator", []batchv1.PodFailurePolicyRule{badOperator}},
		"a container":           {"", []batchv1.PodFailurePolicyRule{of(containerName)}},
		"no such container":     {rule + ".onExitCodes.containerName", []batchv1.PodFailurePolicyRule{of("other")}},
		"20 patterns":           {"", []batchv1.PodFailurePolicyRule{patterns(20)}},
		"21 patterns":           {rule + ".onPodConditions", []batchv1.PodFailurePolicyRule{patterns(21)}},
		"a status":              {rule + ".onPodConditions[0].status", []batchv1.PodFailurePolicyRule{badStatus}},
		"both requirements":     {rule, []batchv1.PodFailurePolicyRule{both}},
		"no requirement":        {rule, []batchv1.PodFailurePolicyRule{{Action: count}}},
		"an action":             {rule + ".action", []batchv1.PodFailurePolicyRule{onExit("Shrug", 1)}},
		"FailIndex for the Job": {rule + ".action", []batchv1.PodFailurePolicyRule{onExit(batchv1.PodFailurePolicyActionFailIndex, 1)}},
		"no rule":               {"", nil},
	} {
		s.rejects(what, c.field, failurePolicy(c.rules...))
	}
	s.rejects("another podReplacementPolicy", "spec.podReplacementPolicy", withRules(1), replacedWhen(batchv1.TerminatingOrFailed))
	s.rejects("FailIndex", "", indexed(2), perIndexLimit(1), failurePolicy(onExit(batchv1.PodFailurePolicyActionFailIndex, 1)))

	with, none := s.store("with", withRules(1), suspended), s.store("none", suspended)
	const policy = "spec.podFailurePolicy"
	s.rejectsEdit("another code", policy, with, map[string]any{"podFailurePolicy": map[string]any{"rules": []any{exits(7)}}})
	s.rejectsEdit("no policy anymore", policy, with, map[string]any{"podFailurePolicy": nil})
	s.rejectsEdit("a new policy", policy, none, map[string]any{"podFailurePolicy": map[string]any{"rules": []any{exits(7)}}})
	s.rejectsEdit("something else", "", with, map[string]any{"parallelism": 2})
}

package failures_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: FCT-07
func TestAllContainersThatFailedAreNamed(t *testing.T) {
	pair := func(first, second int32) func(*corev1.Pod) {
		return explaintest.FailedPod(func(p *corev1.Pod) {
			explaintest.AddEnd(p, "extract", first, "", false)
			explaintest.AddEnd(p, "upload", second, "open /data/x: no space left on device", false)
			explaintest.AddEnd(p, "mesh", 137, "", true)
		})
	}
	r := explaintest.WantFirst(t, explaintest.FailedOnce(explaintest.PodOf("a", pair(3, 9))), "container extract exited with code 3, and container upload with code 9;")
	explaintest.WantText(t, r, "container upload exited with code 9", "no space left on device for /data/x")
	if got := r.Causes[0].Also; len(got) != 1 || got[0].Container != "upload" || got[0].ExitCode != 9 {
		t.Errorf("%+v", got)
	}
	// Containers that failed in only some of the pods are not part of their cause.
	r = explaintest.WantFirst(t, explaintest.FailedOnce(explaintest.PodOf("a", pair(3, 9)), explaintest.PodOf("b", pair(3, 0))), "container extract exited with code 3;")
	if got := r.Causes[0].Also; len(got) > 0 {
		t.Errorf("%+v", got)
	}
	// A deletion ends all containers: only the first exit code is informative.
	r = explaintest.Report(explaintest.FailedOnce(explaintest.PodOf("a", func(p *corev1.Pod) {
		pair(143, 143)(p)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(explaintest.Ago(time.Minute)), ptr.To[int64](30)
	})))
	explaintest.WantWithout(t, r, "and container upload")
}

// The words of a retry that found what an earlier attempt left are not the cause of all failures.
// Requirements: FCT-07
func TestRetryDoesNotSpeakForTheFirstAttempt(t *testing.T) {
	at := func(name string, start, end time.Duration) *input.Pod {
		return explaintest.PodOf(name, explaintest.FailedPod(func(p *corev1.Pod) {
			explaintest.AddEnd(p, "main", 3, "", false)
			state := p.Status.ContainerStatuses[0].State.Terminated
			state.StartedAt, state.FinishedAt = explaintest.Ago(start), explaintest.Ago(end)
		}))
	}
	one := explaintest.InputOf(explaintest.JobWith(nil), at("a", 4*time.Minute, 3*time.Minute), at("b", 2*time.Minute, time.Minute))
	beside := explaintest.InputOf(explaintest.JobWith(nil), at("a", 4*time.Minute, 3*time.Minute), at("b", 4*time.Minute, time.Minute))
	first, retry := input.LogTail{Pod: "a", Container: "main"}, input.LogTail{Pod: "b", Container: "main", Lines: []string{"error: key 7 already exists"}}
	for name, tc := range map[string]struct {
		in   input.Input
		line string
		want string
	}{
		"another error":       {one, "error: no data", "Container main exited with code 3: error: no data; the latest retry failed differently: “error: key 7 already exists”"},
		"a known error":       {one, "dial tcp db:5432: connect: connection refused", "Container main exited with code 3: connection refused by db:5432; the latest retry failed differently: “error: key 7 already exists”"},
		"the same from begin": {one, "error: key 7 already exists", "Container main exited with code 3: error: key 7 already exists"},
		"a pod beside it":     {beside, "error: no data", "Container main exited with code 3: error: key 7 already exists"},
	} {
		first.Lines = []string{tc.line}
		tc.in.Logs = []input.LogTail{retry, first}
		r := explaintest.Report(tc.in)
		assert.Equal(t, words.CauseSentence(&r.Causes[0]), tc.want, name)
	}
	for line, want := range map[string]bool{"error: no data": true, "error: key 7 already exists": false} {
		first.Lines = []string{line}
		one.Logs = []input.LogTail{retry, first}
		advised := slices.ContainsFunc(explaintest.Report(one).Advice, func(a explain.Advice) bool { return strings.Contains(a.Text, "start over after a failed attempt") })
		assert.Equalf(t, advised, want, "after %q, a program that starts over is advised", line)
	}
}

// Containers that ran out of memory are named with the limit of each, and a rerun raises all of them.
// Requirements: FCT-07
func TestAllContainersThatRanOutOfMemoryAreNamedWithTheirLimits(t *testing.T) {
	killed := explaintest.PodOf("a", explaintest.FailedPod(func(p *corev1.Pod) {
		for _, name := range []string{"scan", "driver", "registrar"} {
			explaintest.AddEnd(p, name, 137, "Killed", false)
			p.Status.ContainerStatuses[len(p.Status.ContainerStatuses)-1].State.Terminated.Reason = "OOMKilled"
		}
		p.Status.ContainerStatuses[2].State.Terminated.ExitCode = 0
	}))
	for want, limits := range map[string][2]string{
		"container scan exited with code 137 (OOMKilled), and container driver with code 137 (OOMKilled), memory limit 500M each": {"500M", "500M"},
		"memory limits 500M (scan) and 1Gi (driver)": {"500M", "1Gi"},
	} {
		f := explaintest.FailedOnce(killed)
		f.Job.Spec.Template.Spec.Containers, f.RelativesRead = nil, true
		for i, name := range []string{"scan", "driver", "registrar"} {
			c := corev1.Container{Name: name}
			if i < 2 {
				c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limits[i])}
			}
			f.Job.Spec.Template.Spec.Containers = append(f.Job.Spec.Template.Spec.Containers, c)
		}
		r := explaintest.WantFirst(t, f, want)
		explaintest.WantText(t, r, "raise the memory limits of containers scan ("+limits[0]+") and driver ("+limits[1]+")", `{"name":"driver","resources":{"limits":{"memory":"`)
		explaintest.WantWithout(t, r, "registrar", "Killed”")
	}
}

// Requirements: FCT-08
func TestRuleThatMatchesASidecarHidesTheFailure(t *testing.T) {
	policy := func(action batchv1.PodFailurePolicyAction, container *string, codes ...int32) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: container, Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: codes},
			}}}
		}
	}
	pod := explaintest.PodOf("a", explaintest.FailedPod(func(p *corev1.Pod) {
		explaintest.AddEnd(p, "work", 1, "", false)
		explaintest.AddEnd(p, "zookeeper", 137, "", true)
	}))
	r := explaintest.WantFirst(t, explaintest.InputOf(explaintest.JobWith(policy("Ignore", nil, 137, 143)), pod),
		"container work exited with code 1, but rule 0 ignores it because of sidecar zookeeper, which exited with code 137 (SIGKILL)")
	explaintest.WantText(t, r, "containerName: work in onExitCodes of rule 0", "container work exited with code 1", "kubectl logs a -c work")
	if h := r.Causes[0].Hidden; h == nil || h.Container != "work" || !h.Sidecar || r.Causes[0].Container != "zookeeper" {
		t.Errorf("%+v", r.Causes[0])
	}
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		policy("FailJob", nil, 137)(j)
		explaintest.FailJob(j, batchv1.JobReasonPodFailurePolicy, "Container zookeeper for pod ns/a failed with exit code 137 matching FailJob rule at index 0")
	}), pod)
	explaintest.WantFirst(t, f, "its container zookeeper exited with code 137 (SIGKILL); container work exited with code 1, and the rule does not look at it")

	// A stopped container hides the failure of another one, too.
	stopped := explaintest.PodOf("a", explaintest.FailedPod(func(p *corev1.Pod) {
		explaintest.AddEnd(p, "work", 1, "", false)
		explaintest.AddEnd(p, "proxy", 143, "", false)
	}))
	explaintest.WantFirst(t, explaintest.InputOf(explaintest.JobWith(policy("Ignore", nil, 143)), stopped), "container work exited with code 1, but rule 0 ignores it because of container proxy")

	for name, hidesNothing := range map[string]input.Input{
		"the container is named":      explaintest.InputOf(explaintest.JobWith(policy("Ignore", ptr.To("zookeeper"), 137)), pod),
		"the action changes nothing":  explaintest.InputOf(explaintest.JobWith(policy("Count", nil, 137)), pod),
		"the work itself matches":     explaintest.InputOf(explaintest.JobWith(policy("Ignore", nil, 1, 137)), pod),
		"only the sidecar has failed": explaintest.InputOf(explaintest.JobWith(policy("Ignore", nil, 137)), explaintest.PodOf("a", explaintest.FailedPod(func(p *corev1.Pod) { explaintest.AddEnd(p, "zookeeper", 137, "", true) }))),
	} {
		for _, c := range explaintest.Report(hidesNothing).Causes {
			if c.Hidden != nil || strings.Contains(c.Text, "but rule") {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

// A pod that terminates without its finalizer was counted if it was disrupted; otherwise, it may have been one too many.
// Requirements: CLI-15
func TestPodThatTerminatesMayHaveBeenCounted(t *testing.T) {
	for disruption, want := range map[string]string{"EvictionByEvictionAPI": "pod was evicted through the Eviction API", "": "the failed pod and its log are gone"} {
		terminating := func(p *corev1.Pod) {
			explaintest.WithStatus("", "", disruption, "", explaintest.Terminating(5*time.Second))(p)
			p.Status.Phase = corev1.PodRunning
		}
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed, j.Status.Active = 1, 0 }), explaintest.PodOf("a", terminating))
		explaintest.WantText(t, explaintest.Report(f), want)
	}
}

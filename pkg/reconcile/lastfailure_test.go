package reconcile

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The condition of a Job that exceeds backoffLimit says how the pod that failed last did, in any order of the pods.
// Requirements: JOB-15
func TestMessageNamesTheLastFailure(t *testing.T) {
	exited := func(container string, code int32, reason string) failurepolicy.Container {
		return failurepolicy.Container{Name: container, ExitCode: code, Reason: reason}
	}
	ended := func(ago time.Duration, containers ...failurepolicy.Container) func(*Pod) {
		return func(p *Pod) {
			failedPod(1, ago)(p)
			p.Terminated = containers
		}
	}
	evicted := func(p *Pod) { p.Reasons = &PodReasons{Failed: "Evicted"} }
	ranBefore := func(p *Pod) {
		p.Restarts, p.Restarted = 1, &failurepolicy.Container{Name: "main", ExitCode: 7, Reason: "Error"}
	}
	onFailure := restartPolicy(corev1.RestartPolicyOnFailure)
	for name, test := range map[string]struct {
		o    *observed
		want string
	}{
		"one pod":          {observeJob().with("p", failedPod(3, 0)), "; container main of pod p failed with exit code 3"},
		"the last of two":  {observeJob(sized(2, 2)).with("p", failedPod(3, time.Minute)).with("q", failedPod(4, time.Second)), "; container main of pod q failed with exit code 4"},
		"a special reason": {observeJob().with("p", ended(0, exited("main", 137, "OOMKilled"))), "; container main of pod p failed with exit code 137 (OOMKilled)"},
		"one of two containers": {observeJob().with("p", ended(0, exited("proxy", 0, "Completed"), exited("main", 2, "Error"))),
			"; container main of pod p failed with exit code 2"},
		"an eviction that killed the container": {observeJob().with("p", failedPod(137, 0), func(p *Pod) { p.Reasons = &PodReasons{Disrupted: "TerminationByKubelet"} }),
			"; pod p failed: TerminationByKubelet"},
		"the pod as a whole": {observeJob().with("p", ended(0), evicted), "; pod p failed: Evicted"},
		"an unknown end":     {observeJob().with("p", ended(0)), ""},
		"a known end before an unknown one": {observeJob(sized(2, 2)).with("p", failedPod(3, time.Minute)).with("q", ended(0)),
			"; container main of pod p failed with exit code 3"},
		"a later failure that is ignored": {observeJob(sized(2, 2), failurePolicy(onExit("Ignore", 4))).with("p", failedPod(3, time.Minute)).with("q", failedPod(4, 0)),
			"; container main of pod p failed with exit code 3"},
		"restarts":                             {observeJob(onFailure).with("p", ranBefore), "; container main of pod p failed with exit code 7"},
		"the restart of a pod that sorts last": {observeJob(onFailure, sized(2, 2)).with("p").with("q", ranBefore), "; container main of pod q failed with exit code 7"},
		"an end after restart":                 {observeJob(onFailure).with("p", ranBefore, failedPod(9, 0)), "; container main of pod p failed with exit code 9"},
	} {
		t.Run(name, func(t *testing.T) {
			backoffLimit(0)(test.o.Job)
			for range 2 {
				_, _, message := fateOf(test.o.compute())
				assert.Equal(t, message, messageBackoffLimit+test.want, "message")
				slices.Reverse(test.o.Pods)
			}
		})
	}
}

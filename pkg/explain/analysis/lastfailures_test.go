package analysis_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// also adds the end of a second container.
func also(name string, code int32, reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: ago(time.Hour), FinishedAt: ago(10 * time.Minute)},
		}})
	}
}

func limited(limit string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
	}
}

func all(changes ...func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for _, change := range changes {
			change(p)
		}
	}
}

// Only the reason OOMKilled shows that a container ran out of memory: with any exit code, in any container. A message makes
// it probable, and exit code 137 nothing.
//
// Requirements: RTY-40, RTY-42
func TestLastFailures(t *testing.T) {
	evicted := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
	}
	says := func(message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Terminated.Message = message }
	}
	for name, c := range map[string]struct {
		pods []func(*corev1.Pod)
		want string
	}{
		"OOMKilled":              {[]func(*corev1.Pod){all(exits(137, "OOMKilled", time.Minute), limited("1Gi"))}, "OOMKilled killed [main 1Gi]"},
		"exit code 1":            {[]func(*corev1.Pod){exits(1, "OOMKilled", time.Minute)}, "OOMKilled killed [main ]"},
		"another, exit code 0":   {[]func(*corev1.Pod){all(exits(1, "Error", time.Minute), also("side", 0, "OOMKilled"))}, "exit code 1 killed [side ]"},
		"exit code 137":          {[]func(*corev1.Pod){exits(137, "Error", time.Minute)}, "exit code 137"},
		"a message":              {[]func(*corev1.Pod){all(exits(1, "Error", time.Minute), says("MemoryError"))}, "out of memory probably main"},
		"a killed child":         {[]func(*corev1.Pod){all(exits(1, "Error", time.Minute), says("build: signal: killed"))}, "process killed probably main"},
		"GPU memory":             {[]func(*corev1.Pod){all(exits(1, "Error", time.Minute), says("torch.cuda.OutOfMemoryError: CUDA out of memory."))}, "out of GPU memory"},
		"another failure since":  {[]func(*corev1.Pod){exits(137, "OOMKilled", 2*time.Minute), exits(3, "Error", time.Minute)}, "exit code 3"},
		"a disruption since":     {[]func(*corev1.Pod){exits(137, "OOMKilled", 2*time.Minute), all(exits(143, "Error", time.Minute), evicted)}, "evicted"},
		"a disruption before it": {[]func(*corev1.Pod){all(exits(143, "Error", 2*time.Minute), evicted), exits(137, "OOMKilled", time.Minute)}, "OOMKilled killed [main ]"},
	} {
		in := input.Input{Now: noon, Job: indexedJob(3, func(*batchv1.Job) {}), PodsRead: true}
		for i, change := range c.pods {
			in.Pods = append(in.Pods, podOf(fmt.Sprint("p", i), onIndex(1, int32(i+1), change)))
		}
		failures := analysis.LastFailures(in)
		if len(failures) != 1 || failures[0].Index != 1 {
			t.Errorf("%s: %+v", name, failures)
			continue
		}
		f := failures[0]
		got := words.CauseNames(f.Cause)[0]
		for _, k := range f.OutOfMemory {
			got += fmt.Sprintf(" killed [%s %s]", k.Container, k.Limit.Value)
		}
		if f.Probably != nil {
			got += " probably " + f.Probably.Container
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The last failure of an index may be in a retry of the Job.
//
// Requirements: RTY-40
func TestLastFailureInARelative(t *testing.T) {
	in := input.Input{Now: noon, Job: indexedJob(3, nil), PodsRead: true, Pods: []*input.Pod{
		podOf("a", onIndex(1, 1, exits(137, "OOMKilled", 5*time.Minute))), podOf("b", onIndex(2, 1, exits(4, "Error", 5*time.Minute))),
	}}
	in.Relatives = []input.Input{{Job: indexedJob(3, nil), PodsRead: true, Pods: []*input.Pod{podOf("c", onIndex(1, 1, exits(3, "Error", time.Minute)))}}}
	got := ""
	for _, f := range analysis.LastFailures(in) {
		got += fmt.Sprintf("%d: %s; ", f.Index, words.CauseNames(f.Cause)[0])
	}
	if got != "1: exit code 3; 2: exit code 4; " {
		t.Error(got)
	}
}

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
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// also adds the end of a second container.
func also(name string, code int32, reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: explaintest.Ago(time.Hour), FinishedAt: explaintest.Ago(10 * time.Minute)},
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
// Requirements: RTY-40, RTY-42
func TestLastFailures(t *testing.T) {
	evicted := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}}
	}
	withMessage := func(message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Terminated.Message = message }
	}
	for name, c := range map[string]struct {
		pods []func(*corev1.Pod)
		want string
	}{
		"OOMKilled":              {[]func(*corev1.Pod){all(explaintest.Exits(137, "OOMKilled", time.Minute), limited("1Gi"))}, "OOMKilled killed [main 1Gi]"},
		"exit code 1":            {[]func(*corev1.Pod){explaintest.Exits(1, "OOMKilled", time.Minute)}, "OOMKilled killed [main ]"},
		"another, exit code 0":   {[]func(*corev1.Pod){all(explaintest.Exits(1, "Error", time.Minute), also("side", 0, "OOMKilled"))}, "exit code 1 killed [side ]"},
		"exit code 137":          {[]func(*corev1.Pod){explaintest.Exits(137, "Error", time.Minute)}, "exit code 137"},
		"a message":              {[]func(*corev1.Pod){all(explaintest.Exits(1, "Error", time.Minute), withMessage("MemoryError"))}, "out of memory probably main"},
		"a killed child":         {[]func(*corev1.Pod){all(explaintest.Exits(1, "Error", time.Minute), withMessage("build: signal: killed"))}, "process killed probably main"},
		"GPU memory":             {[]func(*corev1.Pod){all(explaintest.Exits(1, "Error", time.Minute), withMessage("torch.cuda.OutOfMemoryError: CUDA out of memory."))}, "out of GPU memory"},
		"another failure since":  {[]func(*corev1.Pod){explaintest.Exits(137, "OOMKilled", 2*time.Minute), explaintest.Exits(3, "Error", time.Minute)}, "exit code 3"},
		"a disruption since":     {[]func(*corev1.Pod){explaintest.Exits(137, "OOMKilled", 2*time.Minute), all(explaintest.Exits(143, "Error", time.Minute), evicted)}, "evicted"},
		"a disruption before it": {[]func(*corev1.Pod){all(explaintest.Exits(143, "Error", 2*time.Minute), evicted), explaintest.Exits(137, "OOMKilled", time.Minute)}, "OOMKilled killed [main ]"},
	} {
		in := input.Input{Now: explaintest.Noon, Job: explaintest.IndexedJob(3, func(*batchv1.Job) {}), PodsRead: true}
		for i, change := range c.pods {
			in.Pods = append(in.Pods, explaintest.PodOf(fmt.Sprint("p", i), explaintest.OnIndex(1, int32(i+1), change)))
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
		assert.Equal(t, got, c.want, name)
	}
}

// The last failure of an index may be in a retry of the Job.
// Requirements: RTY-40
func TestLastFailureInARelative(t *testing.T) {
	in := input.Input{Now: explaintest.Noon, Job: explaintest.IndexedJob(3, nil), PodsRead: true, Pods: []*input.Pod{
		explaintest.PodOf("a", explaintest.OnIndex(1, 1, explaintest.Exits(137, "OOMKilled", 5*time.Minute))), explaintest.PodOf("b", explaintest.OnIndex(2, 1, explaintest.Exits(4, "Error", 5*time.Minute))),
	}}
	in.Relatives = []input.Input{{Job: explaintest.IndexedJob(3, nil), PodsRead: true, Pods: []*input.Pod{explaintest.PodOf("c", explaintest.OnIndex(1, 1, explaintest.Exits(3, "Error", time.Minute)))}}}
	got := ""
	for _, f := range analysis.LastFailures(in) {
		got += fmt.Sprintf("%d: %s; ", f.Index, words.CauseNames(f.Cause)[0])
	}
	assert.Equal(t, got, "1: exit code 3; 2: exit code 4; ")
}

// An event about the pod, or an event of its node with its UID, shows that its container ran out of memory. An event of the node
// from the time of the pod makes it probable.
// Requirements: RTY-44
func TestKillsThatNodesReport(t *testing.T) {
	const uid = "0c1d2e3f-0000-4000-8000-000000000001"
	now := explaintest.Ago(time.Minute).Time
	node := func(name, reason, message string, before time.Duration) input.Event {
		return input.Event{Node: name, Type: "Warning", Reason: reason, Message: message, Last: now.Add(-before)}
	}
	const killed = "Memory cgroup out of memory: Killed process 4711 (python) total-vm:1048576kB"
	for name, c := range map[string]struct {
		event input.Event
		want  string
	}{
		"of the pod":           {input.Event{Pod: "p", Reason: "OOMKilling", Message: killed}, "killed"},
		"of another pod":       {input.Event{Pod: "q", Reason: "OOMKilling", Message: killed}, ""},
		"with the UID":         {node("node-1", "OOMKilling", "oom-kill:task_memcg=/kubepods/pod"+uid+"/x,task=python", time.Hour), "killed"},
		"with systemd's UID":   {node("node-1", "OOMKilling", "oom-kill:task_memcg=/kubepods-pod0c1d2e3f_0000_4000_8000_000000000001.slice", 0), "killed"},
		"at that time":         {node("node-1", "OOMKilling", killed, 5*time.Second), "probably"},
		"of the kubelet":       {node("node-1", "SystemOOM", "System OOM encountered, victim process: python, pid: 4711", 0), "probably"},
		"before that time":     {node("node-1", "OOMKilling", killed, time.Hour), ""},
		"after that time":      {node("node-1", "OOMKilling", killed, -time.Minute), ""},
		"of another node":      {node("node-2", "OOMKilling", killed, 5*time.Second), ""},
		"about something else": {node("node-1", "Rebooted", "with "+uid, 0), ""},
	} {
		in := input.Input{Now: explaintest.Noon, Job: explaintest.IndexedJob(3, nil), PodsRead: true, Pods: []*input.Pod{explaintest.PodOf("p", explaintest.OnIndex(1, 1, func(p *corev1.Pod) {
			explaintest.Exits(1, "Error", time.Minute)(p)
			p.UID = uid
		}))}}
		if c.event.Pod != "" {
			in.Events = []input.Event{c.event}
		} else {
			in.NodeEvents = []input.Event{c.event}
		}
		got, f := "", analysis.LastFailures(in)[0]
		if len(f.OutOfMemory) > 0 {
			got = "killed"
		} else if f.Probably != nil {
			got = "probably"
		}
		assert.Equal(t, got, c.want, name)
	}
}

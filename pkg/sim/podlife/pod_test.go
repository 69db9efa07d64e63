package podlife

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var begun = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// script defines the length and the end of the runs of each container, in order; the last one repeats.
type script map[string][]Run

func (s script) runs(container string, restarts int32) Run {
	all := s[container]
	if len(all) == 0 {
		return Run{For: time.Second}
	}
	return all[min(int(restarts), len(all)-1)]
}

func spec(policy corev1.RestartPolicy, init ...string) *corev1.PodSpec {
	s := &corev1.PodSpec{RestartPolicy: policy, Containers: []corev1.Container{{Name: "main"}}}
	for _, name := range init {
		c := corev1.Container{Name: name}
		if name == "mesh" {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		s.InitContainers = append(s.InitContainers, c)
	}
	return s
}

// play returns a line for each change until the pod ends, or until the limit.
func play(s *corev1.PodSpec, runs script, limit time.Duration) string {
	p := Start(s, begun, runs.runs)
	lines := []string{line(p, 0)}
	for {
		at, more := p.Next()
		if !more || at.Sub(begun) > limit {
			return strings.Join(lines, "\n")
		}
		if p.Advance(at, false) {
			lines = append(lines, line(p, at.Sub(begun)))
		}
	}
}

func line(p *Pod, at time.Duration) string {
	var status corev1.PodStatus
	p.SetStatus(&status)
	parts := []string{at.String(), string(status.Phase)}
	if status.Reason != "" {
		parts = append(parts, status.Reason)
	}
	for _, c := range append(status.InitContainerStatuses, status.ContainerStatuses...) {
		state := "running"
		if c.State.Waiting != nil {
			state = c.State.Waiting.Reason
		}
		if t := c.State.Terminated; t != nil {
			state = fmt.Sprintf("%s(%d)", t.Reason, t.ExitCode)
		}
		text := fmt.Sprintf("%s=%s/%d", c.Name, state, c.RestartCount)
		if t := c.LastTerminationState.Terminated; t != nil {
			text += fmt.Sprintf("/last:%d@%s", t.ExitCode, t.FinishedAt.Sub(begun))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// Requirements: SIM-01, SIM-02, SIM-03
func TestContainersRestartAsTheKubeletDoes(t *testing.T) {
	fails := Run{For: time.Second, Exit: 1}
	deadline := spec(corev1.RestartPolicyOnFailure)
	deadline.ActiveDeadlineSeconds = ptr.To[int64](5)
	for name, tc := range map[string]struct {
		spec  *corev1.PodSpec
		runs  script
		limit time.Duration
		want  string
	}{
		"success": {spec(corev1.RestartPolicyOnFailure), nil, time.Hour, `
0s Running
1s Succeeded main=Completed(0)/0`},
		"Never": {spec(corev1.RestartPolicyNever), script{"main": {fails}}, time.Hour, `
0s Running
1s Failed main=Error(1)/0`},
		"the first restart is immediate, others double": {spec(corev1.RestartPolicyOnFailure), script{"main": {fails, fails, fails, {For: time.Second}}}, time.Hour, `
0s Running
1s Running main=running/1/last:1@1s
2s Running main=CrashLoopBackOff/1/last:1@2s
12s Running main=running/2/last:1@2s
13s Running main=CrashLoopBackOff/2/last:1@13s
33s Running main=running/3/last:1@13s
34s Succeeded main=Completed(0)/3/last:1@13s`},
		"a long run resets the back-off": {spec(corev1.RestartPolicyOnFailure), script{"main": {fails, fails, {For: 11 * time.Minute, Exit: 1}, {For: Forever}}}, 12 * time.Minute, `
0s Running
1s Running main=running/1/last:1@1s
2s Running main=CrashLoopBackOff/1/last:1@2s
12s Running main=running/2/last:1@2s
11m12s Running main=running/3/last:1@11m12s`},
		"an init container under OnFailure": {spec(corev1.RestartPolicyOnFailure, "setup", "load"), script{"setup": {fails, {For: time.Second}}, "load": {{}}}, time.Hour, `
0s Pending
1s Pending setup=running/1/last:1@1s
2s Running setup=Completed(0)/1/last:1@1s load=Completed(0)/0 main=running/0
3s Succeeded setup=Completed(0)/1/last:1@1s load=Completed(0)/0 main=Completed(0)/0`},
		"an init container under Never": {spec(corev1.RestartPolicyNever, "setup", "load"), script{"setup": {fails}}, time.Hour, `
0s Pending
1s Failed setup=Error(1)/0`},
		"a sidecar restarts always, and decides nothing": {spec(corev1.RestartPolicyNever, "mesh"), script{"mesh": {{For: time.Second}}, "main": {{For: 5 * time.Second}}}, time.Hour, `
0s Running
1s Running mesh=running/1/last:0@1s main=running/0
2s Running mesh=CrashLoopBackOff/1/last:0@2s main=running/0
5s Succeeded mesh=Completed(0)/1/last:0@1s main=Completed(0)/0`},
		"a sidecar ends with the pod": {spec(corev1.RestartPolicyNever, "mesh"), script{"mesh": {{For: Forever, Exit: 137}}}, time.Hour, `
0s Running
1s Succeeded mesh=Error(137)/0 main=Completed(0)/0`},
		"its own deadline": {deadline, script{"main": {{For: time.Hour}}}, time.Hour, `
0s Running
5s Failed DeadlineExceeded main=Error(143)/0`},
		"its own deadline while it waits": {deadline, script{"main": {fails}}, time.Hour, `
0s Running
1s Running main=running/1/last:1@1s
2s Running main=CrashLoopBackOff/1/last:1@2s
5s Failed DeadlineExceeded main=Error(1)/1/last:1@1s`},
		"eviction": {spec(corev1.RestartPolicyOnFailure), script{"main": {{For: time.Second, Exit: 143, Evicted: []corev1.PodCondition{{}}}}}, time.Hour, `
0s Running
1s Failed main=Error(143)/0`},
	} {
		assert.Equal(t, play(tc.spec, tc.runs, tc.limit), strings.TrimPrefix(tc.want, "\n"), name)
	}
}

// Requirements: SIM-01
func TestBackOffIsCapped(t *testing.T) {
	p := Start(spec(corev1.RestartPolicyOnFailure), begun, script{"main": {{Exit: 1}}}.runs)
	var waits []time.Duration
	last := begun
	for range 8 {
		at, _ := p.Next()
		p.Advance(at, false)
		waits = append(waits, at.Sub(last))
		last = at
	}
	assert.Equal(t, fmt.Sprint(waits), "[10s 20s 40s 1m20s 2m40s 5m0s 5m0s 5m0s]")
}

// Requirements: SIM-01. The Job controller deletes a pod at the limit; its containers do not run again.
func TestTerminatingPodsRestartNothing(t *testing.T) {
	p := Start(spec(corev1.RestartPolicyOnFailure), begun, script{"main": {{For: time.Second, Exit: 1}}}.runs)
	p.Advance(begun.Add(time.Second), true)
	assert.Equal(t, line(p, time.Second), "1s Failed main=Error(1)/0")
	p = Start(spec(corev1.RestartPolicyOnFailure, "mesh"), begun, script{"main": {{For: Forever}}, "mesh": {{For: Forever, Exit: 3}}}.runs)
	p.Kill(begun, 0)
	assert.Equal(t, line(p, 0), "0s Succeeded mesh=Error(3)/0 main=Completed(0)/0")
}

package play

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// FLD-01: every play can be read, and each step has exactly one action.
func TestPlaysAreComplete(t *testing.T) {
	files, err := filepath.Glob("../cases/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, dir := range files {
		play, err := Read(dir)
		if err == nil {
			err = play.check(dir)
		}
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// check returns an error if a player could not play p.
func (p Play) check(dir string) error {
	if p.Pods != played && p.Pods != simulated {
		return fmt.Errorf("pods: %s", p.Pods)
	}
	if slices.ContainsFunc(p.Controllers, func(c string) bool { return c != Builtin && c != Ours }) {
		return fmt.Errorf("controllers: %s", p.Controllers)
	}
	if len(p.Steps) == 0 {
		return errors.New("no steps")
	}
	for i, s := range p.Steps {
		set := 0
		for _, field := range reflect.ValueOf(s).Fields() {
			if !field.IsZero() {
				set++
			}
		}
		if set != 1 {
			return fmt.Errorf("step %d does %d things", i+1, set)
		}
		if s.Create == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, s.Create)); err != nil {
			return err
		}
	}
	return nil
}

// FLD-04: a played status equals a kubelet's: containers that are not named wait, sidecars count for Ready and
// Initialized, and images are the pod's.
func TestStatusIsThatOfAKubelet(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	always := corev1.ContainerRestartPolicyAlways
	spec := corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "copy", Image: "a"}, {Name: "proxy", Image: "b", RestartPolicy: &always}},
		Containers:     []corev1.Container{{Name: "main", Image: "c"}},
	}
	duration := func(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }
	s := Pod{Phase: "Pending", Age: *duration(time.Minute), Containers: map[string]Container{
		"copy":  {Exit: ptr.To[int32](0), Started: *duration(time.Minute), Ended: *duration(50 * time.Second)},
		"proxy": {Running: duration(40 * time.Second), Unready: true, Last: &Container{Exit: ptr.To[int32](3)}, Restarts: 1},
	}}
	status := s.status(spec, now)
	if want := now.Add(-time.Minute); !status.StartTime.Time.Equal(want) {
		t.Errorf("started at %s", status.StartTime)
	}
	describe := func(status corev1.PodStatus) string {
		var b strings.Builder
		for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
			fmt.Fprintf(&b, "%s %s ready=%t", c.Name, c.Image, c.Ready)
			switch {
			case c.State.Terminated != nil:
				fmt.Fprintf(&b, " exit %d %s", c.State.Terminated.ExitCode, c.State.Terminated.Reason)
			case c.State.Waiting != nil:
				fmt.Fprintf(&b, " waits %s", c.State.Waiting.Reason)
			}
			if last := c.LastTerminationState.Terminated; last != nil {
				fmt.Fprintf(&b, " last %d %s", last.ExitCode, last.Reason)
			}
			b.WriteString("; ")
		}
		for _, c := range status.Conditions {
			fmt.Fprintf(&b, "%s=%s %s %s; ", c.Type, c.Status, c.Reason, c.Message)
		}
		return b.String()
	}
	const want = "copy a ready=true exit 0 Completed; proxy b ready=false last 3 Error; main c ready=false waits PodInitializing; " +
		"PodReadyToStartContainers=True  ; Initialized=False ContainersNotInitialized containers with incomplete status: [proxy]; " +
		"Ready=False ContainersNotReady containers with unready status: [proxy main]; " +
		"ContainersReady=False ContainersNotReady containers with unready status: [proxy main]; PodScheduled=True  ; "
	assert.Equal(t, describe(status), want)
	rejected := Pod{Phase: "Failed", Rejected: true, Reason: "OutOfcpu", Message: "no"}.status(spec, now)
	if got := describe(rejected); got != "" || rejected.Reason != "OutOfcpu" || rejected.Message != "no" {
		t.Errorf("a rejected pod has %s", got)
	}
	evicted := Pod{Phase: "Failed", Message: "low", Disruption: "TerminationByKubelet"}.status(spec, now)
	if last := evicted.Conditions[len(evicted.Conditions)-1]; last.Type != corev1.DisruptionTarget || last.Reason != "TerminationByKubelet" || last.Message != "low" {
		t.Errorf("%+v", last)
	}
}

// Requirements: FLD-04
func TestPatchesHaveTimesOfThePast(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got := past(map[string]any{"a": []any{"-5m", "5m", "${POD}"}, "n": int64(-5)}, func(text string) string { return strings.ReplaceAll(text, "${POD}", "x") }, now)
	if want := map[string]any{"a": []any{"2026-01-02T02:59:05Z", "5m", "x"}, "n": int64(-5)}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

//go:build !race

// Large Jobs take ten times as long with the race detector, which cannot find anything: one goroutine writes them.

package bundle

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// A Job with the maximum number of pods fits: the page lists some of them, the file is small, and its recording can be
// played.
// Requirements: BUN-07, BUN-09
func TestLargeJobFits(t *testing.T) {
	c := simple("exit 1")
	template := c.Pods[0]
	c.Pods = nil
	for i := range maxPods {
		pod := template.DeepCopy()
		pod.Name = fmt.Sprintf("train-%d-abcde", i)
		pod.UID = types.UID(pod.Name)
		c.Pods = append(c.Pods, *pod)
	}
	read, archive := bundled(t, c)
	assert.Equal(t, len(read.Pods), len(c.Pods), "pods")
	if len(archive) > 8<<20 {
		t.Errorf("%d bytes", len(archive))
	}
	if page := unpacked(t, archive)[reportHTML]; len(page) > 1<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	input, err := read.Input()
	assert.NoError(t, err)
	measure.CheckAllocated(t, maxAllocated, func() { checkRecording(t, &input, archive) })
}

// Pods that a reader would refuse are left out, starting with the last ones, and the bundle says so.
// Requirements: BUN-07, BUN-09
func TestPodsThatDoNotFitAreCut(t *testing.T) {
	c := simple("exit 1")
	large := c.Pods[0]
	large.Spec.Volumes = make([]corev1.Volume, 2_000)
	for i := range 200 {
		pod := large
		pod.Name = fmt.Sprint("train-large-", i)
		c.Pods = append(c.Pods, pod)
	}
	read, _ := bundled(t, c)
	cut := strings.Join(read.Manifest.Cut, ",")
	if read.Manifest.PodsRead || len(read.Pods) < 50 || read.Pods[0].Name != "train-a" || cut != fmt.Sprintf("%d pods that would take too much memory", len(c.Pods)-len(read.Pods)) {
		t.Errorf("%d pods, cut %q", len(read.Pods), cut)
	}
}

// The pods of relatives are left out, too: more pods than a list may hold must not prevent the bundle.
// Requirements: BUN-07
func TestPodsOfRelativesAreCut(t *testing.T) {
	c := simple("exit 1")
	c.Relatives = []Relative{{PodsRead: true, Pods: make([]corev1.Pod, maxObjects+1)}}
	read, _ := bundled(t, c)
	other := &read.Relatives[0]
	if len(other.Pods) == 0 || other.PodsRead || !strings.HasSuffix(strings.Join(read.Manifest.Cut, ","), "pods that would take too much memory") {
		t.Errorf("%d pods of the other Job, cut %q", len(other.Pods), read.Manifest.Cut)
	}
}

// A recording that would exceed its limit ends early.
// Requirements: BUN-09
func TestRecordingIsNoLongerThanItMayBe(t *testing.T) {
	c := simple(strings.Repeat("a long line ", 1000))
	input, err := c.Input()
	assert.NoError(t, err)
	report := analysis.Explain(input, explain.Options{})
	for most, want := range map[int]int{10_000: 2, 1 << 20: 4} {
		var out bytes.Buffer
		if err := record(&out, most, c, &input, &report); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != want || out.Len() > most {
			t.Errorf("at most %d: %d bytes, %d lines, %v", most, out.Len(), bytes.Count(out.Bytes(), []byte("\n")), err)
		}
	}
}

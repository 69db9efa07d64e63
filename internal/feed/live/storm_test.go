package live

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// storm is a source that looks at a Job of 100,000 indexes; only the test feeds it.
type storm struct {
	source *Source
	watch  *podWatch
	pods   []stormPod
	now    time.Time
	next   int // index
}

// stormPod is the current state of a pod. Its object is made anew for each change, as a decoder does.
type stormPod struct {
	name    string
	index   int
	phase   corev1.PodPhase
	created time.Time
	code    int32 // exit code of its container, 0 while it runs
}

func newStorm(pods int) *storm {
	storm := &storm{now: testNow()}
	config := testConfig()
	config.Now = func() time.Time { return storm.now }
	s := NewSource(config)
	s.focus.Job = types.NamespacedName{Namespace: "ns1", Name: "huge"}
	s.job = &openJob{source: s, key: s.focus.Job}
	s.job.job = &observe.NamedJob{Job: batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "huge", UID: "huge", CreationTimestamp: metav1.NewTime(testNow().Add(-time.Hour))},
		Spec: batchv1.JobSpec{
			CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: ptr.To[int32](100_000), Parallelism: ptr.To(int32(pods)),
			BackoffLimitPerIndex: ptr.To[int32](3), BackoffLimit: ptr.To[int32](1 << 30),
		},
		Status: batchv1.JobStatus{Active: int32(pods), StartTime: &metav1.Time{Time: testNow().Add(-time.Hour)}},
	}}
	s.job.related = newRelated()
	s.job.related.podsRead, s.job.related.podsTried = true, true
	storm.source, storm.watch = s, newPodWatch(s, s.job.related, &s.job.job.Job)
	for range pods {
		pod := storm.pod()
		storm.pods = append(storm.pods, pod)
		storm.watch.onEvent(watch.Added, pod.object())
	}
	return storm
}

func (s *storm) pod() stormPod {
	index := s.next % 100_000
	s.next++
	return stormPod{name: fmt.Sprintf("huge-%d-%05d", index, s.next), index: index, phase: corev1.PodPending, created: s.now}
}

func (p *stormPod) object() *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns1", Name: p.name, UID: types.UID("uid-" + p.name), CreationTimestamp: metav1.NewTime(p.created), Finalizers: []string{batchv1.JobTrackingFinalizer},
			Annotations:     map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(p.index), batchv1.JobIndexFailureCountAnnotation: "0"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "huge", UID: "huge", Controller: ptr.To(true)}},
		},
		Spec:   corev1.PodSpec{NodeName: "node-1"},
		Status: corev1.PodStatus{Phase: p.phase},
	}
	if p.code != 0 {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: p.code, Reason: "Error", FinishedAt: metav1.NewTime(p.created)},
		}}}
	}
	return pod
}

// change performs the next step of a pod's life: it runs, ends, is deleted, and is replaced.
func (s *storm) change(i int) {
	pod := &s.pods[i]
	switch pod.phase {
	case corev1.PodPending:
		pod.phase = corev1.PodRunning
	case corev1.PodRunning:
		pod.phase = corev1.PodSucceeded
		if i%4 == 0 {
			pod.phase, pod.code = corev1.PodFailed, int32(1+i%3)
		}
	default:
		s.watch.onEvent(watch.Deleted, pod.object())
		*pod = s.pod()
		s.watch.onEvent(watch.Added, pod.object())
		return
	}
	s.watch.onEvent(watch.Modified, pod.object())
}

// BenchmarkLiveStorm measures the CPU time of a second in which each of 10,000 pods changes once, of a Job of 100,000
// indexes. Time is virtual except for the reports, which are as many as the pace allows. Decoding the server's responses is
// not included.
func BenchmarkLiveStorm(b *testing.B) {
	storm := newStorm(10_000)
	var changing, reporting time.Duration
	reports := 0
	for b.Loop() {
		end := storm.now.Add(time.Second)
		for i := range storm.pods {
			if i%100 == 0 { // 10 ms
				storm.now = storm.now.Add(10 * time.Millisecond)
				took, made := storm.makeDue()
				reporting += took
				reports += made
			}
			began := time.Now()
			storm.change(i)
			changing += time.Since(began)
		}
		storm.now = end
	}
	b.StopTimer()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(changing.Nanoseconds())/float64(b.N*len(storm.pods)), "ns/change")
	b.ReportMetric(float64(reporting.Milliseconds())/float64(max(reports, 1)), "ms/report")
	b.ReportMetric(float64(reports)/float64(b.N), "reports/s")
	b.ReportMetric(float64((changing+reporting).Milliseconds())/float64(b.N), "cpu-ms/s")
	b.ReportMetric(float64(memory.HeapInuse)/(1<<20), "MiB-heap")
	runtime.KeepAlive(storm)
}

// makeDue makes the Snapshot that is due, and returns how long the report took, which it also records in the pace.
func (s *storm) makeDue() (took time.Duration, reports int) {
	source := s.source
	source.mu.Lock()
	due := !source.pace.due(source.need()).After(s.now)
	before := source.job.shown
	source.mu.Unlock()
	if !due {
		return 0, 0
	}
	began := time.Now()
	source.report(context.Background(), s.now)
	source.publish()
	took = time.Since(began)
	if source.job.shown != before {
		source.pace.took, source.pace.reported = took, s.now.Add(took)
		reports = 1
	}
	return took, reports
}

// Issue 6: in a storm there are few reports, each of everything received; the store holds the pods that exist.
func TestStormMakesFewReports(t *testing.T) {
	storm := newStorm(500)
	snapshots, reports := 0, map[*explain.Report]bool{}
	for i := range 10 * len(storm.pods) {
		if i%5 == 0 { // ten seconds
			storm.now = storm.now.Add(10 * time.Millisecond)
			storm.source.mu.Lock()
			due := !storm.source.pace.due(storm.source.need()).After(storm.now)
			storm.source.mu.Unlock()
			if due {
				storm.source.report(context.Background(), storm.now)
				storm.source.pace.took = 50 * time.Millisecond
				storm.source.publish()
				snapshots++
				reports[storm.source.latest.Job.Report] = true
			}
		}
		storm.change(i % len(storm.pods))
	}
	if snapshots > 100 || len(reports) > 25 || len(reports) < 20 {
		t.Errorf("%d Snapshots, %d reports in 10 s", snapshots, len(reports))
	}
	storm.now = storm.now.Add(time.Second)
	storm.source.report(context.Background(), storm.now)
	storm.source.publish()
	counts := map[string]int{}
	for _, pod := range storm.source.latest.Job.Report.Pods {
		counts[pod.Phase]++
	}
	want := map[string]int{}
	for _, pod := range storm.pods {
		want[string(pod.phase)]++
	}
	assert.Equal(t, fmt.Sprint(counts), fmt.Sprint(want))
}

// Issue 6: at most maxEvents events are kept; the latest stay, and a gap says that the others are missing.
func TestLiveEventsAreBounded(t *testing.T) {
	f := newRelated()
	events := &f.events[1]
	events.read = true
	for i := range 4 * maxEvents {
		events.put(fmt.Sprint("event-", i), input.Event{Pod: "p", Last: testNow().Add(time.Duration(i) * time.Second)})
		if n := len(events.rows.rows); n > maxEvents+maxEvents/4 {
			t.Fatalf("%d are kept", n)
		}
	}
	_, first := events.rows.get("event-0")
	_, last := events.rows.get(fmt.Sprint("event-", 4*maxEvents-1))
	if first || !last || events.isComplete() || len(f.gaps()) != 1 {
		t.Errorf("first %t, last %t, gaps %v", first, last, f.gaps())
	}
}

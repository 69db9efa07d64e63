package integration

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// twoFail makes the pods of indexes 2 and 4 of Job a fail once all others have succeeded; without indexes, the second
// and the fourth pod. In the Job's retries, all pods succeed.
func (f *fixture) twoFail(pod *corev1.Pod, nth int) corev1.PodPhase {
	index, isIndexed := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	fails := index == "2" || index == "4"
	if !isIndexed {
		fails = nth == 2 || nth == 4
	}
	switch {
	case !fails, metav1.GetControllerOf(pod).Name != "a":
		return corev1.PodSucceeded
	case f.history.job("a").Status.Succeeded < 4:
		return ""
	}
	return corev1.PodFailed
}

// readJob returns nil for a Job that does not exist.
func (f *fixture) readJob(name string) *batchv1.Job {
	f.t.Helper()
	job, err := f.client.BatchV1().Jobs(f.namespace).Get(f.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return job
}

func (f *fixture) untilEndsAs(name string, as batchv1.JobConditionType) *batchv1.Job {
	f.t.Helper()
	f.until(name+" is "+string(as), func() bool {
		job := f.readJob(name)
		return job != nil && reconcile.FinishedCondition(job) == as
	})
	return f.readJob(name)
}

// ranIndexes returns the indexes of a Job's pods, in the order of their names.
func (f *fixture) ranIndexes(job string) string {
	f.t.Helper()
	list, err := f.client.CoreV1().Pods(f.namespace).List(f.t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
	assert.NoError(f.t, err)
	var indexes []string
	for i := range list.Items {
		indexes = append(indexes, list.Items[i].Annotations[batchv1.JobCompletionIndexAnnotation])
	}
	return strings.Join(indexes, " ")
}

const queueLabel = "kueue.x-k8s.io/queue-name"

// retryCases are Jobs with six completions, of which two fail.
var retryCases = []struct {
	name    string
	options []jobOption
	failed  string // the reason
	// succeeded is the final count of the retry, if not six.
	succeeded int32
	complete  string // the reason, if not that the completions are reached
	queue     bool
}{
	{name: "Indexed", options: []jobOption{indexed(6), backoffLimit(0)}, failed: batchv1.JobReasonBackoffLimitExceeded},
	{name: "NonIndexed", options: []jobOption{completions(6), backoffLimit(0)}, failed: batchv1.JobReasonBackoffLimitExceeded, succeeded: 2},
	{name: "backoffLimitPerIndex", options: []jobOption{indexed(6), perIndexLimit(0)}, failed: batchv1.JobReasonFailedIndexes},
	{
		name: "successPolicy", options: []jobOption{indexed(6), backoffLimit(0), successPolicy(batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To("2-4")})},
		failed: batchv1.JobReasonBackoffLimitExceeded, complete: batchv1.JobReasonSuccessPolicy,
	},
	{name: "podReplacementPolicy", options: []jobOption{indexed(6), backoffLimit(0), replacedWhen(batchv1.Failed)}, failed: batchv1.JobReasonBackoffLimitExceeded},
	{name: "maxFailedIndexes", options: []jobOption{indexed(6), perIndexLimit(0), maxFailedIndexes(1)}, failed: batchv1.JobReasonMaxFailedIndexesExceeded},
	{name: "queue", options: []jobOption{indexed(6), backoffLimit(0)}, failed: batchv1.JobReasonBackoffLimitExceeded, queue: true},
}

// Exactly the missing indexes run again, and the Job completes as if it had run all.
// Requirements: RTY-01, RTY-03, RTY-04, RTY-18
func TestRetryRunsWhatIsMissing(t *testing.T) {
	t.Parallel()
	testRetryCases(t, false)
}

func testRetryCases(t *testing.T, builtin bool) {
	t.Run("37 of 10,000 indexes", func(t *testing.T) { testLargeRetry(t, builtin) })
	t.Run("scaled up", func(t *testing.T) { testScaledRetry(t, builtin) })
	for _, c := range retryCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			job := newJob(append(c.options, parallelism(6), onNode)...)
			if builtin {
				job.Spec.ManagedBy = nil
			} else {
				f.startController()
			}
			if c.queue {
				job.Labels = map[string]string{queueLabel: "gpu"}
			}
			f.create(job)
			f.kubelet.play(f.twoFail)
			f.untilEndsAs("a", batchv1.JobFailed)
			if failed := history.Condition(f.readJob("a"), batchv1.JobFailed); failed.Reason != c.failed {
				t.Fatalf("it failed otherwise: %+v", failed)
			}
			f.startPlugin("retry", "a").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "")
			if c.queue {
				f.admit("a-retry-1")
			}
			f.wantRetried(c.complete, c.succeeded)
			f.startPlugin("retry", "a").wantEnd(cmdutil.ExitError, "", "nothing is missing: job.batch/a-retry-1 has completed what a did not")
			if c.succeeded == 0 && !c.queue {
				f.startPlugin("retry", "job/a", "--indexes", "0").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-2 created\n", "It runs index 0;")
				f.untilEndsAs("a-retry-2", batchv1.JobComplete)
				assert.Equal(t, f.ranIndexes("a-retry-2"), "0", "ran")
			}
			for _, job := range []string{"a", "a-retry-1"} { // RTY-20
				f.startPlugin("why", job, "--full").wantEnd(cmdutil.ExitDone, "Retries: complete, by a-retry-1", "")
			}
			if c.failed == batchv1.JobReasonFailedIndexes { // In the others, the first failure may stop the second pod.
				f.startPlugin("why", "a", "--full").wantEnd(cmdutil.ExitDone, "Indexes 2,4 failed in a (exit code 1); completed in a-retry-1.", "")
			}
		})
	}
}

// testLargeRetry retries a Job of another controller. The test writes its status, so that the 9,963 other indexes need
// no pods.
func testLargeRetry(t *testing.T, builtin bool) {
	t.Parallel()
	f := newFixture(t)
	const n, every = 10_000, 271
	var failing []int32
	for i := int32(0); i < n; i += every {
		failing = append(failing, i)
	}
	failed := indexset.Of(failing...)
	completed := indexset.Below(n).Difference(failed)
	job := f.create(newJob(managedBy(otherController), indexed(n), parallelism(50), perIndexLimit(0), onNode))
	counted := func(s *batchv1.JobStatus) {
		s.CompletedIndexes, s.FailedIndexes, s.Succeeded = completed.String(), ptr.To(failed.String()), int32(completed.Len())
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	for _, edits := range [][]statusEdit{{started, counted, with(batchv1.JobFailureTarget)}, {with(batchv1.JobFailed)}} {
		stored, err := writeStatus(t.Context(), f.client.BatchV1().Jobs(f.namespace), job, edits)
		assert.NoError(t, err)
		job = stored
	}
	f.untilSeen(job)
	patch := `{"spec":{"managedBy":null}}`
	if !builtin {
		patch = `{"spec":{"managedBy":"` + controller.DefaultManagedBy + `"}}`
		f.startController()
	}
	f.startPlugin("retry", "a", "--patch", patch).wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "It runs 37 indexes (")
	f.kubelet.play(everySucceeds)
	made := f.untilComplete("a-retry-1", n, 0)
	ran := indexset.Set{}
	for index := range strings.FieldsSeq(f.ranIndexes("a-retry-1")) {
		i, err := strconv.Atoi(index)
		if err != nil || ran.Contains(int32(i)) {
			t.Errorf("index %q ran again: %v", index, err)
		}
		ran = ran.Union(indexset.Of(int32(i)))
	}
	if !ran.Equal(failed) || made.Status.CompletedIndexes != "0-9999" {
		t.Errorf("ran %s, want %s; completed %.50s", ran, failed, made.Status.CompletedIndexes)
	}
}

// testScaledRetry scales the retry of an elastic Job from 4 indexes to 8 (RTY-25).
func testScaledRetry(t *testing.T, builtin bool) {
	t.Parallel()
	f := newFixture(t)
	job := newJob(indexed(4), parallelism(4), backoffLimit(0), onNode)
	if builtin {
		job.Spec.ManagedBy = nil
	} else {
		f.startController()
	}
	f.create(job)
	f.kubelet.play(func(pod *corev1.Pod, _ int) corev1.PodPhase {
		switch owner := metav1.GetControllerOf(pod).Name; {
		case owner == "a" && pod.Annotations[batchv1.JobCompletionIndexAnnotation] != "2", owner != "a" && *f.history.job(owner).Spec.Completions == 8:
			return corev1.PodSucceeded
		case owner == "a" && f.history.job("a").Status.Succeeded == 3:
			return corev1.PodFailed
		}
		return ""
	})
	f.untilEndsAs("a", batchv1.JobFailed)
	f.startPlugin("retry", "a").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "It runs index 2;")
	f.edit("a-retry-1", elastic(8))
	made := f.untilComplete("a-retry-1", 8, 0)
	if ran := f.ranIndexes("a-retry-1"); ran != "2 4 5 6 7" || made.Status.CompletedIndexes != "0-7" {
		t.Errorf("ran %s, completed %s", ran, made.Status.CompletedIndexes)
	}
}

// wantRetried waits for the end of the retry, which has run only its two indexes or completions.
func (f *fixture) wantRetried(reason string, succeeded int32) {
	f.t.Helper()
	ran, completed := " ", "" // two pods without an index
	if succeeded == 0 {
		ran, completed, succeeded = "2 4", "0-5", 6
	}
	if reason == "" {
		reason = batchv1.JobReasonCompletionsReached
	}
	made := f.untilFinished("a-retry-1", batchv1.JobComplete, reason, succeeded, 0)
	if made.Status.CompletedIndexes != completed || ptr.Deref(made.Status.FailedIndexes, "") != "" || f.ranIndexes("a-retry-1") != ran {
		f.t.Errorf("%+v, ran %q, want %q", made.Status, f.ranIndexes("a-retry-1"), ran)
	}
	if *made.Spec.Parallelism != 6 || *made.Spec.Suspend || retry.IsPending(made) {
		f.t.Errorf("%+v", made.Spec)
	}
}

// admit resumes a Job as Kueue does when its queue has room. No pod runs before.
func (f *fixture) admit(name string) {
	f.t.Helper()
	f.untilIs(name, batchv1.JobSuspended)
	if job := f.readJob(name); job.Labels[queueLabel] != "gpu" || *job.Spec.Parallelism != 6 || !*job.Spec.Suspend || f.ranIndexes(name) != "" {
		f.t.Errorf("before it is admitted: %v %+v", job.Labels, job.Spec)
	}
	f.edit(name, map[string]any{"suspend": false})
}

// Of two concurrent retries, the second removes the unfinished Job of the first. When the first continues, it does not
// write its status into the second's Job.
// Requirements: RTY-06
func TestTwoRetriesAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(6), parallelism(6), perIndexLimit(0), onNode))
	stop := f.kubelet.play(f.twoFail)
	f.untilEndsAs("a", batchv1.JobFailed)
	stop() // The retry runs until the end of the test.

	held, gate := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(gate) })
	target, err := url.Parse(apiServer.Config.Host)
	assert.NoError(t, err)
	transport, err := rest.TransportFor(apiServer.Config)
	assert.NoError(t, err)
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/status") {
			close(held)
			<-gate
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	t.Cleanup(goOn) // Before that, as the proxy waits for its requests.
	first := f.startPlugin("retry", "a", "--indexes", "2", "--server", proxy.URL)
	<-held
	f.startPlugin("retry", "a").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "It runs 2 indexes (2,4)")
	f.untilCounts("a-retry-1", counts{active: 2, succeeded: 4})
	goOn()
	first.wantEnd(cmdutil.ExitError, "", "job.batch/a-retry-1 was deleted before it ran, perhaps by another retry")
	if job := f.readJob("a-retry-1"); job.Status.CompletedIndexes != "0,1,3,5" {
		t.Errorf("the first has changed what the second runs: %+v", job.Status)
	}
	f.kubelet.play(everySucceeds)
	f.untilComplete("a-retry-1", 6, 0)
	assert.Equal(t, f.ranIndexes("a-retry-1"), "2 4", "ran")
}

// Of many concurrent retries, exactly one has its Job run, whatever the others remove and create meanwhile.
// Requirements: RTY-06
func TestManyRetriesAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(6), parallelism(6), perIndexLimit(0), onNode))
	f.kubelet.play(f.twoFail)
	f.untilEndsAs("a", batchv1.JobFailed)
	var commands []*command
	for range 8 {
		commands = append(commands, f.startPlugin("retry", "a"))
	}
	won := 0
	for _, c := range commands {
		switch code := c.end(); {
		case code == cmdutil.ExitDone:
			won++
		case code != cmdutil.ExitError, strings.Count(c.errOut.String(), "error: ") != 1, strings.Contains(c.errOut.String(), "choose another name"):
			t.Errorf("exit %d: %s", code, c.errOut.String())
		}
		t.Logf("%s%s", c.out.String(), c.errOut.String())
	}
	assert.Equal(t, won, 1)
	f.untilComplete("a-retry-1", 6, 0)
	if ran := f.ranIndexes("a-retry-1"); ran != "2 4" || f.readJob("a-retry-2") != nil {
		t.Errorf("ran %s; and %v", ran, f.readJob("a-retry-2"))
	}
}

// The real API server lets the memory of a suspended Job change, and its controller runs the Job on: with its name, its UID, and
// what it had completed.
// Requirements: RTY-47
func TestRunningJobGetsMoreMemory(t *testing.T) {
	t.Parallel()
	testInPlace(t, false)
}

func testInPlace(t *testing.T, builtin bool) {
	f := newFixture(t)
	job := newJob(indexed(3), parallelism(3), perIndexLimit(6), onNode)
	job.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("32Mi")},
	}
	if builtin {
		job.Spec.ManagedBy = nil
	} else {
		f.startController()
	}
	created := f.create(job)
	for _, pod := range f.untilActive(3) {
		f.kubelet.run(pod)
		switch pod.Annotations[batchv1.JobCompletionIndexAnnotation] {
		case "0":
			f.kubelet.succeed(pod)
		case "1":
			killed := corev1.ContainerStatus{Name: containerName}
			killed.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.Now()}
			f.kubelet.write(pod, corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{killed}})
		}
	}
	f.untilJob("a", "index 0 is complete", func(job *batchv1.Job) bool { return job.Status.CompletedIndexes == "0" })
	f.kubelet.play(func(pod *corev1.Pod, _ int) corev1.PodPhase {
		limit := pod.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory]
		if limit.String() == "128Mi" {
			return corev1.PodSucceeded
		}
		return "" // The others run until they are deleted.
	})
	f.startPlugin("retry", "a", "--in-place", "--memory", "x2").wantEnd(cmdutil.ExitDone, "job.batch/a resource requirements updated\n", "gets 128Mi of memory instead of 64Mi")
	done := f.untilEndsAs("a", batchv1.JobComplete)
	resources := done.Spec.Template.Spec.Containers[0].Resources
	if limit, request := resources.Limits.Memory().String(), resources.Requests.Memory().String(); limit != "128Mi" || request != "64Mi" {
		t.Errorf("limit %s, request %s", limit, request)
	}
	if _, left := done.Annotations[retry.RaiseAnnotation]; left || done.UID != created.UID || done.Status.CompletedIndexes != "0-2" {
		t.Errorf("%+v", done)
	}
}

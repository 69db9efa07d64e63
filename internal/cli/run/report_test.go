package run

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/junit"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/junitcheck"
)

// The report has the cause, the termination message of the container, which its log may lack, and the last lines of the log.
// Requirements: RUN-13
func TestReportOfAFailure(t *testing.T) {
	server := newServer(t)
	report := filepath.Join(t.TempDir(), "r.xml")
	s := server.run(train, "--junit", report, "--logs=none")
	server.Pods.Write("train-b/main", "\x1b[31mred", "old line")
	server.failTrain("no labels\n\x1b[31min row 7")
	s.Result().Want(t, cmdutil.ExitJobFailed, "")
	text := read(t, report)
	assert.NoError(t, junitcheck.Check(strings.NewReader(text)))
	assert.Contains(t, text, `<testcase name="index 1" classname="train" time="1.000">
      <failure type="Failed" message="Container main exited with code 1">Pod train-b: Container main exited with code 1&#xA;`+
		`Termination message of container main: no labels&#xA;\x1b[31min row 7&#xA;\x1b[31mred&#xA;old line&#xA;boom</failure>`)
	assert.Contains(t, text, `tests="3" failures="1" errors="0" skipped="0"`)
}

// ended returns an ended attempt of an Indexed Job, with its completed and failed indexes.
func ended(end reconcile.Outcome, completions int32, completed, failed string, pods ...explain.PodInfo) *attempt {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train"}}
	job.Spec.CompletionMode, job.Spec.Completions = ptr.To(batchv1.IndexedCompletion), &completions
	job.Status.CompletedIndexes, job.Status.FailedIndexes = completed, &failed
	report := &explain.Report{Pods: pods, Job: explain.Job{DurationSeconds: ptr.To[int64](5)}}
	report.Verdict = explain.Verdict{End: explain.End{Reason: "FailJob"}, Why: "FailJob: rule 0 matched"}
	return &attempt{job: &follow.Job{Job: job, End: end}, report: report}
}

// pod returns a pod of an index.
func pod(index int32, phase corev1.PodPhase) explain.PodInfo {
	p := explain.PodInfo{Name: fmt.Sprintf("p%d", index), Index: &index, Phase: string(phase), Attempt: 1}
	if phase == corev1.PodFailed {
		p.Cause, p.Failure = "Container main exited with code 137 (OOMKilled)", &cause.Failure{Exit: cause.Exit{Reason: "OOMKilled"}}
	}
	return p
}

// lineOf returns a test case as one line.
func lineOf(c junit.Case) string {
	switch {
	case c.Failure != nil:
		return fmt.Sprintf("%s failure %s: %s", c.Name, c.Failure.Type, c.Failure.Message)
	case c.Error != nil:
		return fmt.Sprintf("%s error %s: %s", c.Name, c.Error.Type, c.Error.Message)
	case c.Skipped != nil:
		return fmt.Sprintf("%s skipped: %s", c.Name, c.Skipped.Message)
	}
	return strings.TrimSuffix(fmt.Sprintf("%s passed: %s", c.Name, c.Output), ": ")
}

// Requirements: RUN-13
func TestEachIndexIsATestCase(t *testing.T) {
	stopped := pod(3, corev1.PodFailed)
	stopped.Stopped = explain.StoppedAtEnd
	running := []explain.PodInfo{pod(1, corev1.PodFailed), pod(2, corev1.PodRunning)}
	retried := ended(reconcile.OutcomeComplete, 3, "0-2", "")
	retried.job.Annotations = map[string]string{"batchjob.dev/retry-indexes": "1", "batchjob.dev/retry-left-out": "0,2"}
	notIndexed := ended(reconcile.OutcomeFailed, 1, "", "", explain.PodInfo{Name: "p", Phase: "Failed", Cause: "Container main exited with code 1"})
	notIndexed.job.Spec.CompletionMode = nil
	for name, c := range map[string]struct {
		attempts []*attempt
		ended    error // why following the Job ended early
		want     string
	}{
		"failed": {[]*attempt{ended(reconcile.OutcomeFailed, 6, "0", "1,5", pod(1, corev1.PodFailed), pod(2, corev1.PodFailed), stopped)}, nil,
			`index 0 passed
index 1 failure OOMKilled: Container main exited with code 137 (OOMKilled)
index 2 failure OOMKilled: Container main exited with code 137 (OOMKilled)
index 3 skipped: was stopped: the Job failed: FailJob: rule 0 matched
index 4 skipped: did not run: the Job failed: FailJob: rule 0 matched
index 5 failure Failed: failed; its pods are gone`},
		"successPolicy": {[]*attempt{ended(reconcile.OutcomeComplete, 3, "0", "", stopped)}, nil, "index 0 passed\nindex 1 skipped: did not run: the Job is complete without it\nindex 2 skipped: did not run: the Job is complete without it"},
		"timeout": {[]*attempt{ended("", 4, "0", "", running...)}, follow.ErrTimeout,
			"index 0 passed\nindex 1 error Timeout: not finished when the time ran out\nindex 2 error Timeout: not finished when the time ran out\nindex 3 skipped: did not run: not finished when the time ran out"},
		"stalled": {[]*attempt{ended("", 1, "", "")}, follow.ErrStalled,
			"index 0 skipped: did not run: stalled: a volume cannot be mounted\ntrain error Stalled: stalled: a volume cannot be mounted"},
		"canceled": {[]*attempt{ended("", 1, "", "")}, nil, "index 0 skipped: did not run: not finished when the command was interrupted\ntrain error Interrupted: not finished when the command was interrupted"},
		"deleted":  {[]*attempt{ended(feed.Deleted, 1, "", "")}, nil, "index 0 skipped: did not run: the Job was deleted before it finished\ntrain error Deleted: the Job was deleted before it finished"},
		"deadline": {[]*attempt{ended(reconcile.OutcomeFailed, 1, "", "")}, nil, "index 0 skipped: did not run: the Job failed: FailJob: rule 0 matched\ntrain failure FailJob: FailJob: rule 0 matched"},
		"retried": {[]*attempt{ended(reconcile.OutcomeFailed, 3, "0,2", "1", pod(1, corev1.PodFailed)), retried}, nil,
			"index 0 passed\nindex 1 passed: Failed in train: Container main exited with code 137 (OOMKilled)\nindex 2 passed"},
		"retry does not run": {[]*attempt{ended(reconcile.OutcomeFailed, 1, "", "0", pod(0, corev1.PodFailed)), ended(reconcile.OutcomeFailed, 1, "", "")}, nil,
			"index 0 failure OOMKilled: Container main exited with code 137 (OOMKilled)"},
		"not Indexed": {[]*attempt{notIndexed}, nil, "train failure FailJob: FailJob: rule 0 matched"},
	} {
		var got []string
		task := &task{attempts: c.attempts}
		r := &runner{set: &follow.Set{Blockers: map[types.UID]*explain.Stall{task.last().job.UID: {Text: "a volume cannot be mounted"}}}}
		suite := task.suite(r.whyUnfinished(task.last(), c.ended))
		for _, one := range suite.Cases {
			got = append(got, lineOf(one))
		}
		assert.Equal(t, strings.Join(got, "\n"), c.want, name)
		assert.Equal(t, suite.Time, junit.Seconds(time.Duration(len(c.attempts))*5*time.Second), name)
	}
}

// A report on 10,000 indexes, half of which failed twice, is fast.
// Requirements: RUN-13
func TestReportOfAHugeJob(t *testing.T) {
	const n = 10_000
	var pods []explain.PodInfo
	var done, failed []int32
	for i := range int32(n / 2) {
		pods = append(pods, pod(2*i, corev1.PodFailed), pod(2*i, corev1.PodFailed))
		failed, done = append(failed, 2*i), append(done, 2*i+1)
	}
	var suite junit.Suite
	measure.CheckTime(t, 10*time.Second, func() {
		a := ended(reconcile.OutcomeFailed, n, indexset.Of(done...).String(), indexset.Of(failed...).String(), pods...)
		suite = (&task{attempts: []*attempt{a}}).suite(nil)
	})
	if len(suite.Cases) != n || suite.Cases[0].Failure == nil || suite.Cases[1].Failure != nil {
		t.Errorf("%d cases", len(suite.Cases))
	}
}

// alternate returns n even indexes: "0,2,4,…".
func alternate(n int) string {
	var indexes []int32
	for i := range n {
		indexes = append(indexes, int32(2*i))
	}
	return indexset.Of(indexes...).String()
}

// A Job with 2^31 indexes has one test case for each index with pods; neighbors with the same result share one.
// Requirements: RUN-13
func TestReportOfMoreIndexesThanTestCasesHasRanges(t *testing.T) {
	const most = math.MaxInt32
	for name, c := range map[string]struct {
		attempts []*attempt
		want     string
	}{
		"failed": {[]*attempt{ended(reconcile.OutcomeFailed, most, "0-9,12", "10-11", pod(10, corev1.PodFailed))}, `indexes 0-9 passed
index 10 failure OOMKilled: Container main exited with code 137 (OOMKilled)
index 11 failure Failed: failed; its pods are gone
index 12 passed
indexes 13-2147483646 skipped: did not run: the Job failed: FailJob: rule 0 matched`},
		"complete":   {[]*attempt{ended(reconcile.OutcomeComplete, most, "0-2147483646", "")}, "indexes 0-2147483646 passed"},
		"all failed": {[]*attempt{ended(reconcile.OutcomeFailed, most, "", "0-2147483646")}, "indexes 0-2147483646 failure Failed: failed; its pods are gone"},
	} {
		var got []string
		for _, one := range (&task{attempts: c.attempts}).suite(nil).Cases {
			got = append(got, lineOf(one))
		}
		assert.Equal(t, strings.Join(got, "\n"), c.want, name)
	}
}

// Of 200,000 failed indexes, 10,000 have their own test cases, and the rest share one; likewise for skipped indexes.
// Requirements: RUN-13
func TestReportHasNoMoreTestCasesThanCIReads(t *testing.T) {
	suite := (&task{attempts: []*attempt{ended(reconcile.OutcomeFailed, 400_000, "", alternate(200_000))}}).suite(nil)
	if n := len(suite.Cases); n != 2*maxCases+2 {
		t.Fatalf("%d cases", n)
	}
	want := []string{"index 0 failure Failed: failed; its pods are gone", "index 1 skipped: did not run: the Job failed: FailJob: rule 0 matched"}
	assert.SlicesEqual(t, []string{lineOf(suite.Cases[0]), lineOf(suite.Cases[1])}, want)
	want = []string{"190,000 more indexes failure Failed: failed", "190,000 more indexes skipped: did not run: the Job failed: FailJob: rule 0 matched"}
	assert.SlicesEqual(t, []string{lineOf(suite.Cases[2*maxCases]), lineOf(suite.Cases[2*maxCases+1])}, want)
}

package reconcile

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// saw sets the time at which the caller first saw that pods had failed.
func (o *observed) saw(ago time.Duration, pods ...types.UID) *observed {
	o.FailedSince = map[types.UID]time.Time{}
	for _, pod := range pods {
		o.FailedSince[pod] = now.Add(-ago)
	}
	return o
}

// Requirements: JOB-53
func TestThePlaceOfAFailedPodStaysEmptyForASecond(t *testing.T) {
	fresh, old := 400*time.Millisecond, time.Second
	twoFailed := func(options ...func(*batchv1.Job)) *observed {
		return observeJob(append([]func(*batchv1.Job){indexed(9, 3), perIndex(0)}, options...)...).
			with("a", index(0), failedPod(1, fresh)).with("b", index(1), failedPod(1, fresh)).with("c", index(2))
	}
	const recorded = `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" failedIndexes "0,1" uncounted [] [a b]; `
	twoFailed().saw(fresh, "a", "b").want(t, recorded+"after 600ms")
	twoFailed().saw(old, "a", "b").want(t, recorded+"create 3(0,0); create 4(0,0)")
	// The caller saw another failure whose pod is gone.
	twoFailed().saw(fresh, "gone").want(t, recorded+"create 3(0,0); after 600ms")
	// The verdict does not wait.
	twoFailed(maxFailedIndexes(1)).saw(fresh, "a", "b").
		want(t, `status active 0 terminating 1 succeeded 0 failed 0 completedIndexes "" failedIndexes "0,1" uncounted [] [a b c] FailureTarget=True/MaxFailedIndexesExceeded`)
	// Places that other pods have left do not wait.
	twoFailed().with("d", index(3), succeededPod(0)).saw(fresh, "a", "b").
		want(t, `status active 1 terminating 0 succeeded 1 failed 0 completedIndexes "3" failedIndexes "0,1" uncounted [] [a b]; after 600ms`)
	// The place of an index in back-off is not kept twice.
	observeJob(indexed(9, 3), perIndex(1)).with("a", index(0), failedPod(1, 0)).with("c", index(2)).saw(fresh, "a").
		want(t, "create 1(0,0); after 10s")
	// A NonIndexed Job whose back-off is over when the failure is seen.
	observeJob(sized(9, 3)).with("a", failedPod(1, time.Minute)).with("c").saw(fresh, "a").
		want(t, `status active 1 terminating 0 succeeded 0 failed 0 completedIndexes "" uncounted [] [a]; create; after 600ms`)
}

// Requirements: BLI-26
func TestAFailureWithoutATimeIsAsOldAsItsFirstSight(t *testing.T) {
	noEnd := func(p *Pod) { p.Phase, p.FinishedAt, p.EndUnknown = corev1.PodFailed, begun, true }
	until := func(o *observed) time.Duration {
		if f := o.compute().Findings.Backoff; f != nil {
			return f.Until.Sub(now)
		}
		return 0
	}
	assert.Equal(t, until(observeJob().with("a", noEnd).saw(3*time.Second, "a")), 7*time.Second, "seen")
	assert.Equal(t, until(observeJob().with("a", noEnd)), 0, "not seen")
	assert.Equal(t, until(observeJob().with("a", failedPod(1, 9*time.Second)).saw(3*time.Second, "a")), time.Second, "ended before it was seen")

	o := observeJob().with("a", noEnd).saw(3*time.Second, "a")
	o.compute()
	assert.Equal(t, o.Pods[0].FinishedAt, begun, "the caller's pod")
}

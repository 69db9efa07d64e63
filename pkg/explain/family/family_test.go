package family

import (
	"math"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// Histories of 2^31 failed indexes take no longer than histories of a few.
// Requirements: RTY-20, CLI-12
func TestIndexesWithTheSameHistoryAreCountedTogether(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train", UID: "1"}}
	job.Spec = batchv1.JobSpec{CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: ptr.To[int32](math.MaxInt32), BackoffLimitPerIndex: ptr.To[int32](0)}
	job.Status.FailedIndexes = ptr.To("0-2147483646")
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	oom := &cause.Failure{Exit: cause.Exit{Container: "main", ExitCode: 137, Reason: "OOMKilled"}}
	members := []Member{{Job: job, Outcome: reconcile.OutcomeFailed, Failures: map[int32]*cause.Failure{7: oom, 8: oom}}}
	got := Of(job, retry.Family{job}, members).Histories
	if len(got) != 2 || got[0].Indexes != "0-6,9-2147483646" || got[0].Count != math.MaxInt32-2 || got[1].Indexes != "7,8" || got[1].Count != 2 {
		t.Errorf("%+v", got)
	}
}

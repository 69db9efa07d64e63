//go:build node

package node

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 18: with either controller, real containers run the failed index again, with the same index and the changed
// template.
// Requirements: RTY-01, RTY-04
func TestRetryRunsTheFailedIndex(t *testing.T) {
	for name, ours := range map[string]bool{"built-in": false, "ours": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			j := indexed(newJob("sweep", `echo "part $JOB_COMPLETION_INDEX, $SOLVER"; [ "$JOB_COMPLETION_INDEX$SOLVER" != 2 ]`), 4, 4)
			j.Spec.BackoffLimit, j.Spec.BackoffLimitPerIndex = nil, ptr.To[int32](0)
			if !ours {
				j.Spec.ManagedBy = nil
			}
			create(t, ns, j)
			wantFailed(t, ns, "sweep", batchv1.JobReasonFailedIndexes)
			want(t, ns, 0, []string{"job.batch/sweep-retry-1"}, "retry", "sweep", "--set-env", "SOLVER=new", "--wait", "--timeout", untilEnd)
			if done := job(t, ns, "sweep-retry-1").Status; done.CompletedIndexes != "0-3" || done.Succeeded != 4 || done.Failed != 0 {
				t.Errorf("%+v", done)
			}
			assert.Equal(t, strings.Count(want(t, ns, 0, []string{"part 2, new"}, "logs", "sweep-retry-1"), "part "), 1)
		})
	}
}

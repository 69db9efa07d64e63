package cronjob_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: CLI-06
func TestStartLongAfterItsTimeIsLate(t *testing.T) {
	for name, tc := range map[string]struct {
		scheduled, created time.Duration
		deadline           *int64
		first, note        string
	}{
		"late":            {9 * time.Hour, time.Minute, nil, "CronJob backup started backup-1 8h59m late (due 03:00:00 UTC); it succeeded 1m ago.", "No startingDeadlineSeconds limits how late"},
		"with a deadline": {9 * time.Hour, time.Minute, ptr.To[int64](86400), "CronJob backup started backup-1 8h59m late", "startingDeadlineSeconds (1d) lets a start be so late"},
		"in time":         {9 * time.Hour, 9 * time.Hour, nil, "CronJob backup starts a Job every day at 03:00", ""},
		"of another time": {8 * time.Hour, time.Minute, nil, "CronJob backup starts a Job every day at 03:00", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := given(func(cj *batchv1.CronJob) { cj.Spec.StartingDeadlineSeconds = tc.deadline })
			in.Jobs = []input.OwnedJob{{Name: "backup-1", Scheduled: ago(tc.scheduled).Time, Created: ago(tc.created).Time}}
			r := cronjob.Explain(in, []explain.OwnedRun{{Name: "backup-1", State: explain.OwnedSucceeded, Since: ago(time.Minute)}})
			assert.Contains(t, textOf(&r), tc.first)
			assert.Contains(t, textOf(&r), tc.note)
			assert.Equal(t, strings.Contains(r.Advice[0].Command, "startingDeadlineSeconds"), tc.note != "")
		})
	}
}

package text

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// The obstacles that keep CronJobs from starting Jobs come first, in text that is safe for a terminal. A CronJob that starts
// Jobs is left out if it has any.
// Requirements: CRJ-02, CRJ-03.
func TestCronJobsComeFirst(t *testing.T) {
	list := explain.ReportList{CronJobs: []explain.CronJobReport{
		{Name: "fine", State: explain.CronJobScheduled, Sentence: "CronJob fine started its last Job.", Jobs: 1},
		{
			Name: "a", State: explain.CronJobCreationRefused, Sentence: "CronJob a\x1b[2J cannot create its Jobs.", Details: []string{"Error creating job: no\x07"},
			Advice: []explain.Advice{{Text: "check the quota", Command: "kubectl describe resourcequota"}, {Text: "wait"}},
			Gaps:   []input.Gap{{Text: "events could not be read", Command: "kubectl auth can-i list events"}},
		},
		{Name: "b", State: explain.CronJobScheduled, Sentence: "CronJob b has not started a Job yet."},
	}}
	var out strings.Builder
	if err := Explanations(&out, list, Options{Width: 80, ASCII: true}); err != nil {
		t.Fatal(err)
	}
	const want = `CronJob a\x1b[2J cannot create its Jobs.
  | Error creating job: no\x07

What to do
  1. Check the quota
      $ kubectl describe resourcequota
  2. Wait

What could not be read
  ! Events could not be read
      $ kubectl auth can-i list events

CronJob b has not started a Job yet.
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}

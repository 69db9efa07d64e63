package text

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The states of CronJobs and JobSets come first, in text that is safe for a terminal. Notes follow
// the sentence.
// Requirements: CRJ-02, CRJ-03, JST-01.
func TestOwnersComeFirst(t *testing.T) {
	list := explain.ReportList{CronJobs: []explain.CronJobReport{
		{Name: "fine", State: explain.CronJobScheduled, Sentence: "CronJob fine started its last Job.", Notes: []string{"It is\x07 well.", "The next start is soon."}, Jobs: 1},
		{
			Name: "a", State: explain.CronJobCreationRefused, Sentence: "CronJob a\x1b[2J cannot create its Jobs.", Details: []string{"Error creating job: no\x07"},
			Advice: []explain.Advice{{Text: "check the quota", Command: "kubectl describe resourcequota"}, {Text: "wait"}},
			Gaps:   []input.Gap{{Text: "events could not be read", Command: "kubectl auth can-i list events"}},
		},
		{Name: "b", State: explain.CronJobScheduled, Sentence: "CronJob b has not started a Job yet."},
	}, JobSets: []explain.JobSetReport{{Name: "set", Sentence: "JobSet set cannot create its Jobs.", Details: []string{"no quota"}}}}
	var out strings.Builder
	assert.NoError(t, Explanations(&out, list, Options{Width: 80, ASCII: true}))
	const want = `CronJob fine started its last Job.
It is\x07 well.
The next start is soon.

CronJob a\x1b[2J cannot create its Jobs.
  | Error creating job: no\x07

What to do
  1. Check the quota
      $ kubectl describe resourcequota
  2. Wait

What could not be read
  ! Events could not be read
      $ kubectl auth can-i list events

CronJob b has not started a Job yet.

JobSet set cannot create its Jobs.
  | no quota
`
	assert.Equal(t, out.String(), want)
}

// Requirements: CRJ-02
func TestAdviceOnAnOwnerAndItsJobsIsOneList(t *testing.T) {
	fix, logs := explain.Advice{Text: "fix the command"}, explain.Advice{Kind: explain.AdviceLogs, Text: "read the whole log", Command: "kubectl logs a-1-x"}
	list := explain.ReportList{
		CronJobs: []explain.CronJobReport{{Name: "a", Sentence: "CronJob a starts no Job.", Advice: []explain.Advice{fix, {Text: "delete it"}}}},
		Items:    []explain.Report{{Job: explain.Job{Name: "a-1"}, Advice: []explain.Advice{fix, logs, {Text: "correct the template", OfOwner: true}}}},
	}
	var out strings.Builder
	assert.NoError(t, Explanations(&out, list, Options{Width: 80, ASCII: true, Full: true}))
	assert.Equal(t, strings.Count(out.String(), "What to do"), 1)
	assert.Contains(t, out.String(), "What to do\n  1. Fix the command\n  2. Delete it\n  3. Read the whole log\n      $ kubectl logs a-1-x\n\n1 Job")
}

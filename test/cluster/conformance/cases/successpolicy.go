package cases

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

var successPolicy = []suite.Case{
	{Name: "success-policy-indexes", Title: "A rule with indexes is met when they have succeeded; the other pods are deleted and do not count",
		Source: "KEP-3998, Evaluation", Requirements: []string{"SUC-03", "SUC-04", "SUC-14", "SUC-15", "SUC-24"}, Run: successOfIndexes},
	{Name: "success-policy-count", Title: "A rule with a count is met when so many indexes have succeeded",
		Source: "API: SuccessPolicyRule.succeededCount", Requirements: []string{"SUC-05", "SUC-24"}, Run: successOfCount},
	{Name: "success-policy-indexes-and-count", Title: "In a rule with indexes and a count, only these indexes count",
		Source: "API: SuccessPolicyRule.succeededIndexes", Requirements: []string{"SUC-06"}, Run: successOfBoth},
	{Name: "success-policy-last-index", Title: "A rule that is met by the last index gives the reason SuccessPolicy",
		Source: "KEP-3998, Evaluation", Requirements: []string{"SUC-17"}, Run: successOfLast},
	{Name: "success-policy-after-failures", Title: "Failed indexes fail the Job even if the last index meets a rule",
		Source: "KEP-3998, Evaluation", Requirements: []string{"SUC-09", "SUC-10"}, Run: successAfterFailures},
}

func untilCompleteByPolicy(t *suite.T, j *suite.Job) *batchv1.Job {
	j.Until(condition(batchv1.JobSuccessCriteriaMet))
	job := j.UntilComplete()
	for _, of := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		suite.Equal(t, "the reason of "+string(of), batchv1.JobReasonSuccessPolicy, history.Condition(job, of).Reason)
	}
	return job
}

func successOfIndexes(t *suite.T) {
	j := t.Create(all(3), successRules(ofIndexes("0")))
	t.End(0, j.UntilRunning(3)[0])
	job := untilCompleteByPolicy(t, j)
	suite.Equal(t, "completedIndexes", "0", job.Status.CompletedIndexes)
	wantCounts(t, job, 1, 0)
	wantReleased(t, j)
	wantPods(t, j, 3)
}

func successOfCount(t *suite.T) {
	j := t.Create(all(4), successRules(ofCount(2)))
	running := j.UntilRunning(4)
	t.End(0, running[3])
	j.Until(counts(3, 1, 0))
	suite.Equal(t, "the Job has SuccessCriteriaMet", false, history.Is(j.Now(), batchv1.JobSuccessCriteriaMet))
	t.End(0, running[1])
	job := untilCompleteByPolicy(t, j)
	suite.Equal(t, "completedIndexes", "1,3", job.Status.CompletedIndexes)
	wantCounts(t, job, 2, 0)
}

func successOfBoth(t *suite.T) {
	rule := ofIndexes("1-3")
	rule.SucceededCount = ptr.To(int32(1))
	j := t.Create(all(4), successRules(rule))
	running := j.UntilRunning(4)
	t.End(0, running[0])
	j.Until(counts(3, 1, 0))
	suite.Equal(t, "the Job has SuccessCriteriaMet", false, history.Is(j.Now(), batchv1.JobSuccessCriteriaMet))
	t.End(0, running[2])
	job := untilCompleteByPolicy(t, j)
	suite.Equal(t, "completedIndexes", "0,2", job.Status.CompletedIndexes)
}

func successOfLast(t *suite.T) {
	j := t.Create(all(2), successRules(ofIndexes("0,1")))
	t.End(0, j.UntilRunning(2)...)
	wantCounts(t, untilCompleteByPolicy(t, j), 2, 0)
}

func successAfterFailures(t *suite.T) {
	j := t.Create(all(2), limitPerIndex(0), successRules(ofIndexes("0")))
	running := j.UntilRunning(2)
	t.End(1, running[1])
	j.UntilNow(hasFailedIndexes("1"))
	t.End(0, running[0])
	wantIndexes(t, j.UntilFailed(batchv1.JobReasonFailedIndexes), "0", "1")
}

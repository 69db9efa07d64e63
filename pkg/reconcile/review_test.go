package reconcile

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// verdictsText returns the verdicts of Review: "pod: rule".
func verdictsText(f *Findings) (text []string) {
	for _, v := range f.Verdicts {
		text = append(text, fmt.Sprintf("%s: %d", v.Pod.Name, v.Match.Rule))
	}
	return text
}

// Review returns the verdict of the podFailurePolicy on every failed pod, whether or not it is counted, at every stage
// of the Job.
func TestReviewVerdicts(t *testing.T) {
	policy := failurePolicy(onExit("Count", 3), onExit("FailJob", 42))
	for name, option := range map[string]func(*batchv1.Job){
		"runs": func(*batchv1.Job) {}, "ends": interim(failureTarget), "failed": condition(batchv1.JobFailed, corev1.ConditionTrue, "Reason", "message"),
		"of a mode that is not known": mode("Weird"), "is being deleted": beingDeleted, "has recorded one": uncounted(nil, []types.UID{"recorded"}),
	} {
		o := observeJob(policy, sized(9, 9), option).
			with("counted", failedPod(3, time.Hour), untracked).with("recorded", failedPod(42, time.Minute)).with("terminating", deletedPod(0)).
			with("moved", failedPod(1, time.Hour), unselected).with("good", succeededPod(0)).with("runs")
		plan := Review(o.Observation, o.config)
		assert.Equalf(t, fmt.Sprint(verdictsText(&plan.Findings)), "[counted: 0 recorded: 1 moved: -1]", "a Job that %s", name)
		computed := o.compute()
		if planText(plan) != planText(computed) || !reflect.DeepEqual(plan.Status, computed.Status) {
			t.Errorf("a Job that %s: %s, but reviewed %s", name, planText(computed), planText(plan))
		}
	}
}

// A finished Job has its indexes, and the progress of its success criteria.
func TestReviewFinished(t *testing.T) {
	o := observeJob(indexed(9, 9), perIndex(0), successRules(onCount(3), onIndexes("4-6"), onIndexes("7,8")), endedIndexes("0-2", 3, "4"),
		condition(batchv1.JobComplete, corev1.ConditionTrue, "SuccessPolicy", "message")).
		with("p7", index(7), succeededPod(0))
	plan := Review(o.Observation, o.config)
	assert.Equal(t, fmt.Sprint(plan.Findings.CompletedIndexes, plan.Findings.FailedIndexes), "0-2 4", "indexes")
	assert.Equal(t, fmt.Sprintf("%+v", plan.Findings.SuccessRules), "[{Have:3 Need:3 Met:true OutOfReach:false Inert:false} {Have:0 Need:3 Met:false OutOfReach:true Inert:false} {Have:0 Need:2 Met:false OutOfReach:false Inert:false}]", "rules")
}

// The indexes of a running Job are the indexes of its next status.
func TestReviewNextIndexes(t *testing.T) {
	o := observeJob(indexed(9, 9), perIndex(0), successRules(onCount(9)), endedIndexes("0-2", 3, "4")).
		with("p5", index(5), succeededPod(0)).with("p6", index(6), failedPod(1, 0)).with("p7", index(7))
	plan := Review(o.Observation, o.config)
	assert.Equal(t, fmt.Sprint(plan.Findings.CompletedIndexes, plan.Findings.FailedIndexes), "0-2,5 4,6", "indexes")
	assert.Equal(t, fmt.Sprint(ruleProgress(plan)), "[0: 4/9]", "rules")
	assert.Equal(t, plan.Findings.SuccessRules[0].OutOfReach, true, "out of reach")
}

// Without the pods, nothing is planned, and only the names and the progress from the Job are reported.
func TestReviewWithoutPods(t *testing.T) {
	o := observeJob(indexed(4, 4), successRules(onCount(2)), failurePolicy(onExit("FailJob", 1), onExit("Count", 2)), ruleNames("1=Retry"),
		stored(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded = "0,x", 1 }))
	o.PodsUnknown = true
	plan := Review(o.Observation, o.config)
	if !plan.IsEmpty() || plan.RequeueAfter != 0 {
		t.Error(planText(plan))
	}
	assert.Equal(t, plan.Findings.RuleNames.Name(1), "Retry", "name")
	assert.Equal(t, plan.Findings.DamagedIndexes, 1, "damaged")
	assert.Equal(t, fmt.Sprint(ruleProgress(plan)), "[0: 1/2]", "rules")
}

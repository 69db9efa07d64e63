package soak

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// kindLabel is the label with the name of a Job's recipe.
const kindLabel = "soak.batchjob.dev/kind"

// dish is a Job under construction.
type dish struct {
	dice *rand.Rand
	spec *batchv1.JobSpec
	job  *batchv1.Job
}

// recipes returns functions that make Jobs of every kind. Pods run for five seconds at most, except for pods that a user
// must stop, and every Job ends by itself once it is resumed.
func recipes() map[string]func(dish) {
	return map[string]func(dish){
		"non-indexed": func(d dish) {
			d.counts(1+d.n(4), 1+d.n(3))
			d.fails("x.1", 5)
		},
		"work-queue": func(d dish) {
			d.counts(0, 1+d.n(3))
			d.spec.Completions = nil
			d.fails("x.1", 6)
		},
		"indexed": func(d dish) {
			d.indexed(2+d.n(5), 1+d.n(4))
			d.fails(fmt.Sprint(d.n(6), ".1"), 3)
		},
		"elastic":        elastic,
		"per-index":      limitPerIndex,
		"success-policy": successPolicy,
		"failure-policy": failurePolicy,
		"deadline":       deadline,
		"on-failure":     onFailure,
		"suspended": func(d dish) {
			d.indexed(1+d.n(3), 1+d.n(3))
			d.spec.Suspend = ptr.To(true)
		},
	}
}

// n returns a random number below limit.
func (d dish) n(limit int) int { return d.dice.IntN(limit) }

// oneIn returns true with a probability of 1/n.
func (d dish) oneIn(n int) bool { return d.n(n) == 0 }

func (d dish) counts(completions, parallelism int) {
	d.spec.Completions, d.spec.Parallelism = ptr.To(int32(completions)), ptr.To(int32(parallelism))
}

func (d dish) indexed(completions, parallelism int) {
	d.counts(completions, parallelism)
	d.spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
}

// does sets the behavior of the pods of an index or attempt; see examples/README.md.
func (d dish) does(what, value string) {
	d.spec.Template.Annotations["kwok.batchjob.dev/"+what] = value
}

// fails makes a pod fail, with a probability of 1/oneIn.
func (d dish) fails(which string, oneIn int) {
	if d.oneIn(oneIn) {
		d.does("exit-code."+which, "1")
	}
}

func elastic(d dish) {
	n := 2 + d.n(3)
	d.indexed(n, n)
	d.does("run-time", fmt.Sprintf("%ds", 2+d.n(4)))
}

func limitPerIndex(d dish) {
	d.indexed(2+d.n(4), 1+d.n(4))
	d.spec.BackoffLimitPerIndex = ptr.To(int32(d.n(2)))
	if d.oneIn(2) {
		d.spec.MaxFailedIndexes = ptr.To(int32(d.n(2)))
	}
	d.does(fmt.Sprintf("exit-code.%d.1", d.n(4)), "1")
	d.does(fmt.Sprintf("exit-code.%d", d.n(4)), "1")
}

func successPolicy(d dish) {
	d.indexed(4, 2+d.n(3))
	d.spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{
		{SucceededIndexes: ptr.To("0")}, {SucceededIndexes: ptr.To("1-3"), SucceededCount: ptr.To[int32](2)},
	}}
	for index := range 4 {
		d.does(fmt.Sprintf("run-time.%d", index), fmt.Sprintf("%ds", 1+d.n(5)))
	}
}

// failurePolicy sets a policy with a rule for each action, some of them with names (KEP-4443).
func failurePolicy(d dish) {
	exit := func(action batchv1.PodFailurePolicyAction, code int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
		}}
	}
	rules := []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
		}},
		exit(batchv1.PodFailurePolicyActionCount, 1), exit(batchv1.PodFailurePolicyActionFailJob, 42), exit(batchv1.PodFailurePolicyActionFailJob, 43),
	}
	d.indexed(2+d.n(3), 1+d.n(3))
	if d.oneIn(2) {
		d.spec.BackoffLimitPerIndex = ptr.To[int32](1)
		rules = append(rules, exit(batchv1.PodFailurePolicyActionFailIndex, 3))
	}
	d.spec.PodFailurePolicy, d.spec.PodReplacementPolicy = &batchv1.PodFailurePolicy{Rules: rules}, nil
	d.job.Annotations = map[string]string{"batchjob.dev/pod-failure-policy-rule-names": "0=Disrupted;2=Bug"}
	code := []string{"1", "42", "43", "3", "0"}[d.n(5)]
	which, isDisrupted := fmt.Sprint(d.n(3), ".1"), d.oneIn(3)
	if isDisrupted && !history.IsBuiltIn(d.job) { // Its pods carry no attempt: all would be the first, forever.
		d.does("disruption."+which, "TerminationByKubelet")
		return
	}
	d.does("exit-code."+which, code)
}

func deadline(d dish) {
	d.indexed(2, 1+d.n(2))
	d.spec.ActiveDeadlineSeconds = ptr.To(int64(1 + d.n(4)))
	d.does("run-time", []string{"500ms", "1h"}[d.n(2)])
}

// onFailure makes containers restart in their pod.
func onFailure(d dish) {
	d.counts(1+d.n(2), 1+d.n(2))
	d.spec.Template.Spec.RestartPolicy, d.spec.BackoffLimit = corev1.RestartPolicyOnFailure, ptr.To(int32(1+d.n(3)))
	d.does("run-time", "500ms")
	d.fails("x.1", 2)
}

// createJob draws a Job, and creates it unless there are enough.
func (s *soak) createJob() {
	job := nextJob(s.cook)
	if s.alive() >= mostJobs {
		return
	}
	_, err := client.BatchV1().Jobs(s.current().name).Create(s.t.Context(), job, metav1.CreateOptions{})
	s.tolerate("creating a Job", err)
	s.created++
}

// newJob returns a Job of the controller that is never killed.
func newJob(generateName, kind string) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: generateName, Labels: map[string]string{kindLabel: kind}}}
	job.Spec = batchv1.JobSpec{ManagedBy: ptr.To("batchjob.dev/controller"), Completions: ptr.To[int32](1), Parallelism: ptr.To[int32](1)}
	job.Spec.Template.Annotations = map[string]string{}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}
	return job
}

func nextJob(cook *rand.Rand) *batchv1.Job {
	kinds := slices.Sorted(maps.Keys(recipes()))
	kind := kinds[cook.IntN(len(kinds))]
	// The number of draws depends on the Job's kind; the next Job must not depend on it.
	dice := rand.New(rand.NewPCG(cook.Uint64(), 0))
	job := newJob(kind+"-", kind)
	spec := &job.Spec
	spec.BackoffLimit = ptr.To(int32(2 + dice.IntN(3)))
	spec.ManagedBy = whose(dice.IntN(100))
	spec.PodReplacementPolicy = ptr.To([]batchv1.PodReplacementPolicy{batchv1.TerminatingOrFailed, batchv1.Failed}[dice.IntN(2)])
	d := dish{dice, spec, job}
	if !d.oneIn(5) {
		d.does("run-time", fmt.Sprintf("%dms", 100*(1+d.n(50))))
	}
	d.does("termination-time", fmt.Sprintf("%dms", 500*d.n(6)))
	if d.oneIn(5) {
		d.does("termination-exit-code", "0")
	}
	if d.oneIn(4) {
		spec.TTLSecondsAfterFinished = ptr.To(int32(d.n(6)))
	}
	recipes()[kind](d)
	return job
}

// whose returns a managedBy value, most often of the controllers that are killed.
func whose(percent int) *string {
	switch {
	case percent < 50:
		return ptr.To(soakName)
	case percent < 80:
		return ptr.To("batchjob.dev/controller")
	case percent < 90:
		return nil
	case percent < 97:
		return ptr.To(batchv1.JobControllerName)
	}
	return ptr.To("example.com/nobody")
}

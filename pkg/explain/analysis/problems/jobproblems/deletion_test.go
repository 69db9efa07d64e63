package jobproblems_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: FCT-04
func TestDeletionWaitsForPodsUnlessThereAreNone(t *testing.T) {
	for name, change := range map[string]func(f *input.Input){
		"a pod is left": func(f *input.Input) {
			f.Pods = []*input.Pod{explaintest.PodOf("train-x", func(p *corev1.Pod) {
				p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(explaintest.Ago(-time.Minute)), ptr.To[int64](120)
			})}
		},
		"pods could not be read": func(f *input.Input) { f.PodsRead = false },
	} {
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.DeletionTimestamp, j.Finalizers = ptr.To(explaintest.Ago(time.Minute)), []string{"foregroundDeletion"}
		}))
		change(&f)
		if r := explaintest.Report(f); !strings.HasPrefix(explaintest.Verdict(r), "The Job is being deleted, and has waited 1m for its pods to be deleted first (foreground deletion).") {
			t.Errorf("%s: %s", name, explaintest.Verdict(r))
		}
	}
}

// Another controller's finalizer can delay the deletion of a Job, even of a finished one: the first sentence names the finalizer,
// and its owner if it is known.
// Requirements: FCT-11.
func TestFinalizerThatHoldsADeletedJobIsNamed(t *testing.T) {
	const hook = "argocd.argoproj.io/hook-finalizer"
	held := func(d time.Duration, finalizers ...string) func(j *batchv1.Job) {
		return func(j *batchv1.Job) { j.DeletionTimestamp, j.Finalizers = ptr.To(explaintest.Ago(d)), finalizers }
	}
	for name, tc := range map[string]struct {
		job  *batchv1.Job
		want string
	}{
		"of a complete Job": {
			explaintest.CompleteJob(held(2*time.Second, hook)),
			"The Job is complete: 1 of 1 pod succeeded in 59m; the Job is being deleted, and waits for the finalizer argocd.argoproj.io/hook-finalizer, which Argo CD should remove.",
		},
		"of a failed Job, for long": {
			explaintest.JobWith(func(j *batchv1.Job) {
				explaintest.FailJob(j, "Other", "it ended")
				held(time.Hour, hook)(j)
			}),
			"the Job is being deleted, and has waited 1h for the finalizer argocd.argoproj.io/hook-finalizer, which Argo CD should remove.",
		},
		"of a Job that runs": {
			explaintest.JobWith(held(2*time.Minute, "example.com/x")),
			"The Job is being deleted, and has waited 2m for the finalizer example.com/x.",
		},
		"of several controllers": {
			explaintest.CompleteJob(held(2*time.Second, "orphan", "example.com/x", "kueue.x-k8s.io/resource-in-use")),
			"waits for the finalizers example.com/x and kueue.x-k8s.io/resource-in-use (of Kueue).",
		},
	} {
		if r := explaintest.Report(explaintest.InputOf(tc.job)); !strings.HasSuffix(explaintest.Verdict(r), tc.want) || r.Verdict.Problem == nil {
			t.Errorf("%s: %s", name, explaintest.Verdict(r))
		}
	}
	r := explaintest.Report(explaintest.InputOf(explaintest.CompleteJob(held(time.Minute, "orphan", hook))))
	const remove = `kubectl patch job train --type json -p '[{"op":"test","path":"/metadata/finalizers/1","value":"argocd.argoproj.io/hook-finalizer"},{"op":"remove","path":"/metadata/finalizers/1"}]' -n ns`
	if !explaintest.HasAdvice(r, "Argo CD has not removed") || !explaintest.HasAdvice(r, remove) {
		t.Errorf("%+v", r.Advice)
	}
}

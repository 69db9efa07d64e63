package reconcile

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// skip marks pods on which an operation failed in this sync.
func (o *observed) skip(names ...string) *observed {
	o.Skip = map[types.UID]bool{}
	for _, name := range names {
		o.Skip[types.UID(name)] = true
	}
	return o
}

// stray adds a pod without a controller that the Job's selector matches.
func (o *observed) stray(name string, options ...func(*Pod)) *observed {
	o.with(name, options...)
	last := len(o.Pods) - 1
	o.Strays = append(o.Strays, o.Pods[last])
	o.Pods = slices.Clip(o.Pods[:last])
	return o
}

// pod returns the pod for a change, as by the kubelet or a user.
func (o *observed) pod(t *testing.T, name string) *Pod {
	t.Helper()
	for i, p := range o.Pods {
		if p.Name == name {
			changed := *p
			o.Pods[i] = &changed
			return &changed
		}
	}
	t.Fatalf("no pod %s", name)
	return nil
}

// carryOut applies the plan to the observation; all operations succeed. It checks the order of the protocols: no pod
// that has ended, or counts as failed, loses its finalizer before the stored status reports it (TRK-02).
func (o *observed) carryOut(t *testing.T, plan Plan) *observed {
	t.Helper()
	stored := o.Job.Status
	if plan.Status != nil && !plan.Merge {
		o.Job = o.Job.DeepCopy()
		o.Job.Status, o.Backoff = *plan.Status, plan.Backoff
	}
	o.Pods = slices.Clone(o.Pods)
	change := func(refs []PodRef, do func(*Pod, PodRef)) {
		for _, r := range refs {
			do(o.pod(t, r.Name), r)
		}
	}
	change(plan.Delete, func(p *Pod, _ PodRef) { p.Deleting, p.FinishedAt = true, o.Now })
	change(plan.Release, func(p *Pod, r PodRef) {
		recorded := slices.Contains(stored.UncountedTerminatedPods.Succeeded, p.UID) || slices.Contains(stored.UncountedTerminatedPods.Failed, p.UID)
		completed, _ := indexset.Parse(stored.CompletedIndexes)
		if p.IsTerminal() && !recorded && !completed.Contains(p.Index) && !r.Ignored && o.counts(p) {
			t.Errorf("pod %s is let go, and nothing stands for it", p.Name)
		}
		p.Finalizer = false
		if !r.IgnoredFailure.IsZero() {
			o.Backoff = o.Backoff.Failed(backoff.Failure{Pod: r.UID, At: r.IgnoredFailure})
		}
	})
	change(plan.Disown, func(p *Pod, _ PodRef) { p.Name = "" })
	o.Pods = slices.DeleteFunc(o.Pods, func(p *Pod) bool { return p.Name == "" || p.Deleting && p.IsTerminal() && !p.Finalizer })
	for _, r := range plan.Adopt {
		at := slices.IndexFunc(o.Strays, func(p *Pod) bool { return p.UID == r.UID })
		adopted := *o.Strays[at]
		adopted.Finalizer = true
		o.Strays = slices.Delete(slices.Clone(o.Strays), at, at+1)
		o.Pods = append(o.Pods, &adopted)
	}
	for i, n := range plan.Create {
		o.with(fmt.Sprintf("new-%d-%d", len(o.Pods), i), index(n.Index), counts(n.Failures, n.Ignored), func(p *Pod) { p.Phase = corev1.PodPending })
	}
	return o
}

// counts reports whether the pod can count for the Job.
func (o *observed) counts(p *Pod) bool {
	spec := &o.Job.Spec
	return spec.CompletionMode == nil || *spec.CompletionMode != "Indexed" || p.Index >= 0 && p.Index < *spec.Completions
}

// settle carries out plans until one writes nothing, and returns their texts.
func (o *observed) settle(t *testing.T) (texts []string) {
	t.Helper()
	for range 20 {
		plan := o.compute()
		if plan.IsEmpty() {
			return texts
		}
		texts = append(texts, planText(plan))
		o.carryOut(t, plan)
	}
	t.Fatalf("does not settle: %v", texts)
	return nil
}

// wantStages checks all writes until nothing is left to do.
func (o *observed) wantStages(t *testing.T, want ...string) {
	t.Helper()
	if got := o.settle(t); !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			g, w := "-", "-"
			if i < len(got) {
				g = got[i]
			}
			if i < len(want) {
				w = want[i]
			}
			t.Errorf("stage %d\ngot  %s\nwant %s", i+1, g, w)
		}
	}
}

// wantStatusText checks the stored status.
func (o *observed) wantStatusText(t *testing.T, want string) {
	t.Helper()
	assert.Equal(t, statusText(&o.Job.Status), want, "stored")
}

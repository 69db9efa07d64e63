package reconcile

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// unreported puts a pod in phase Failed without a reported end of its container.
func unreported(p *Pod) {
	failedPod(0, time.Second)(p)
	p.Terminated, p.Unreported = nil, true
}

// since sets the time at which the pods p and q were first seen failed.
func (o *observed) since(ago time.Duration) *observed {
	o.FailedSince = map[types.UID]time.Time{"p": now.Add(-ago), "q": now.Add(-ago)}
	return o
}

// PFP-01, PFP-07, ADR 0012: if a rule may need the exit code of a failed pod, and the kubelet has not reported it, the
// pod is neither evaluated, recorded nor replaced for a while.
func TestUnreportedFailuresWait(t *testing.T) {
	policy := failurePolicy(onExit("FailJob", 42))
	for name, o := range map[string]*observed{
		"NonIndexed": observeJob(policy, sized(2, 2), backoffLimit(0)).with("p", unreported).with("r"),
		"Indexed":    observeJob(policy, indexed(2, 2), perIndex(0)).with("p", unreported, index(0)).with("r", index(1)),
		"work queue": observeJob(policy, backoffLimit(0), func(j *batchv1.Job) { j.Spec.Completions = nil }).with("p", unreported).with("s", succeededPod(time.Minute)),
		"suspended":  observeJob(policy, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }).with("p", unreported),
	} {
		plan := o.since(time.Second).compute()
		released := slices.ContainsFunc(plan.Release, func(r PodRef) bool { return r.Name == "p" })
		recorded := plan.Status != nil && slices.Contains(plan.Status.UncountedTerminatedPods.Failed, "p")
		f := plan.Findings.Unreported
		switch {
		case len(plan.Create) > 0 || released || recorded || plan.Findings.Outcome != nil:
			t.Errorf("%s: %+v", name, plan)
		case len(f) != 1 || !f[0].Until.Equal(now.Add(29*time.Second)) || plan.RequeueAfter != 29*time.Second:
			t.Errorf("%s: %+v, again after %s", name, f, plan.RequeueAfter)
		}
	}
	for name, o := range map[string]*observed{
		"long enough":       observeJob(policy, backoffLimit(0)).with("p", unreported).since(30 * time.Second),
		"never seen":        observeJob(policy, backoffLimit(0)).with("p", unreported),
		"no policy":         observeJob(backoffLimit(0)).with("p", unreported).since(0),
		"told by now":       observeJob(policy, backoffLimit(0)).with("p", failedPod(1, time.Second)).since(0),
		"decided meanwhile": observeJob(policy, condition("FailureTarget", "True", "BackoffLimitExceeded", messageBackoffLimit)).with("p", unreported).since(0),
	} {
		plan := o.compute()
		if plan.Status == nil || !slices.Contains(plan.Status.UncountedTerminatedPods.Failed, "p") || len(plan.Findings.Unreported) > 0 {
			t.Errorf("%s: %+v", name, plan)
		}
	}
	// Its index gets no other pod meanwhile.
	plan := observeJob(policy, indexed(3, 3), perIndex(1)).with("p", unreported, index(0)).with("r", index(1)).since(time.Second).compute()
	if len(plan.Create) != 1 || plan.Create[0].Index != 2 {
		t.Errorf("%+v", plan.Create)
	}
	// A Job that fails for another reason counts the pod as it is.
	plan = observeJob(policy, sized(2, 2), backoffLimit(0)).with("p", unreported).with("q", failedPod(42, time.Second)).since(0).compute()
	if u := plan.Status.UncountedTerminatedPods.Failed; len(u) != 2 || plan.Findings.Outcome == nil {
		t.Errorf("%+v", plan.Status)
	}
	// Its failure delays other pods, whatever the verdict will be (JOB-18, PFP-06).
	if plan = observeJob(policy, sized(3, 3)).with("p", unreported).since(0).compute(); len(plan.Create) > 0 || plan.Findings.Backoff == nil {
		t.Errorf("in back-off: %+v", plan.Create)
	}
}

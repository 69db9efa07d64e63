// Package jobproblems finds problems of a Job itself, including obstacles to creating its pods.
package jobproblems

import (
	"math"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// recently is how long an event counts as current.
const recently = 15 * time.Minute

// Lost returns the pods that are gone without a trace in the status.
func Lost(in *facts.Facts) []explain.Problem {
	p := explain.Problem{Kind: explain.ProblemPodsLost}
	for _, pod := range in.Lost() {
		p.AddPod(pod)
	}
	if p.Count == 0 {
		return nil
	}
	return []explain.Problem{p}
}

// CreationRefused finds the reason why the API server refuses the Job's pods.
func CreationRefused(in *facts.Facts) []explain.Problem {
	refused, created := in.LastJobEvent("FailedCreate"), in.LastJobEvent("SuccessfulCreate")
	if refused == nil || in.Finished() || in.Decision.Decided() || in.Now.Sub(refused.Last) > recently || createdSince(in, refused) {
		return nil
	}
	why := meaning.OfRefusal(refused.Message)
	hasContainer := func(name string) bool { return !in.IsInjected(name) }
	why.NoteInjected(hasContainer, func(path string) bool { return facts.HasField(&in.Spec.Template, path) })
	return one(explain.Problem{
		Kind: explain.ProblemCreationRefused, Blocks: true, MayContinue: why.Kind == meaning.RefusalQuota, Since: explain.TimeOf(refusedSince(in, created)), Count: int32(len(in.Plan.Create)),
		Refusal: why, Details: []string{refused.Message},
	})
}

// createdSince reports whether pods were created after the API server refused one. A list has no event of the creation: it
// uses the status, which is written when pods come and go.
func createdSince(in *facts.Facts, refused *input.Event) bool {
	if created := in.LastJobEvent("SuccessfulCreate"); created != nil && created.Last.After(refused.Last) {
		return true
	}
	if !in.Listed {
		return false
	}
	status := &in.Job.Status
	wanted := min(jobspec.Parallelism(in.Spec), ptr.Deref(in.Spec.Completions, math.MaxInt32)-status.Succeeded)
	_, written := facts.LastStatusWrite(in.Job)
	if status.Active >= wanted || written == nil {
		return status.Active >= wanted
	}
	// Pods that are ready later change the status, too. Without a back-off, pods do not lack for long unless they are refused.
	lacksForLong := status.Failed == 0 && in.Now.Sub(written.Time) > facts.Slack
	return written.After(refused.Last.Add(facts.Slack)) && !lacksForLong
}

// refusedSince returns when the first pod was refused since the last creation. The built-in controller writes an event for
// each pod, whose name is in the message, instead of counting in one event.
func refusedSince(in *facts.Facts, created *input.Event) time.Time {
	var first time.Time
	for i := range in.Events {
		e := &in.Events[i]
		if e.Pod != "" || e.Reason != "FailedCreate" || created != nil && e.Last.Before(created.Last) {
			continue
		}
		began := e.Began()
		if created != nil && began.Before(created.Last) {
			began = created.Last // The series of events began before the last creation.
		}
		if first.IsZero() || began.Before(first) {
			first = began
		}
	}
	return first
}

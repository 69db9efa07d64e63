package live

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
)

// refusedRetry is the pause before a refused request is repeated.
const refusedRetry = 30 * time.Second

// related holds the data related to one Job. All fields are guarded by source.mu.
type related struct {
	changed bool         // since the last report
	job     *batchv1.Job // the latest state

	pods         *rows[*input.Pod]
	podsRead     bool          // pods is complete
	podsTried    bool          // there was a response, perhaps an error
	podsGap      *input.Gap    // nil for none
	podsAnswered chan struct{} // closed on the first response

	events [2]events // of the Job, of its pods

	relatives     []input.Input // the rest of the Job's retry family
	relativesRead bool

	workload    *kueue.Workload
	workloadGap *input.Gap

	lease      *input.Lease
	leaseUntil time.Time // when lease is too old to be used
	goneNodes  map[string]string
	nodesGap   *input.Gap
	podsListed chan struct{} // notified when the pods were read

	tails        []input.LogTail
	tailsGap     *input.Gap
	requested    string           // the evidence for which tails were last requested
	tailRequests chan input.Input // capacity 1; holds only the latest request
}

func newRelated() *related {
	r := &related{
		pods: newRows[*input.Pod](), podsAnswered: make(chan struct{}), podsListed: make(chan struct{}, 1), tailRequests: make(chan input.Input, 1),
	}
	for i := range r.events {
		r.events[i].reset()
	}
	return r
}

// touch requests another report. The caller holds s.mu.
func (r *related) touch(s *Source) {
	r.changed = true
	notify(s.wake)
}

// setPodsTried records that the request for pods got a response. The caller holds s.mu.
func (r *related) setPodsTried() {
	if !r.podsTried {
		r.podsTried = true
		close(r.podsAnswered)
	}
}

// hasPod reports whether a pod of the Job has this name.
func (r *related) hasPod(name string) bool {
	_, known := r.pods.get(name)
	return known
}

// gaps returns the data that could not be read, without duplicates, including the gaps ofJob.
func (r *related) gaps(ofJob ...*input.Gap) []input.Gap {
	var gaps []input.Gap
	ofEvents := []*input.Gap{r.events[0].incomplete, gapOf(r.events[0].refusal), r.events[1].incomplete, gapOf(r.events[1].refusal)}
	for _, gap := range slices.Concat(ofJob, []*input.Gap{r.podsGap}, ofEvents, []*input.Gap{r.workloadGap, r.nodesGap, r.tailsGap}) {
		if gap != nil && !slices.Contains(gaps, *gap) {
			gaps = append(gaps, *gap)
		}
	}
	return gaps
}

// input returns the input of an explanation. Pods and events are copied into the slices of the draft. The caller holds
// source.mu.
func (j *openJob) input(now time.Time, d *draft) input.Input {
	r := j.related
	d.pods = append(d.pods[:0], r.pods.rows...)
	d.events = append(append(d.events[:0], r.events[0].rows.rows...), r.events[1].rows.rows...)
	facts := input.Input{
		Now: now, OurName: j.source.OurName, Job: &j.job.Job, RuleNames: j.job.RuleNames,
		PodsRead: r.podsRead, Pods: d.pods, EventsRead: r.events[0].isComplete() && r.events[1].isComplete(), Events: d.events,
		Workload: r.workload, GoneNodes: r.goneNodes, Logs: r.tails, Relatives: r.relatives, RelativesRead: r.relativesRead, Gaps: r.gaps(j.unread, gapOf(j.refusal)),
	}
	if r.lease != nil && !now.After(r.leaseUntil) {
		facts.Lease = r.lease
	}
	return facts
}

// watchOptional watches a collection that the report on a Job can do without.
func (s *Source) watchOptional(ctx context.Context, collection feed.Collection, refused func(*feed.Refusal)) error {
	connection := s.link.Open()
	defer connection.Connected() // Data that is no longer shown is not stale.
	watch := feed.Watch{Collection: collection, Connection: connection, RetryAfter: refusedRetry, Optional: true, OnRefusal: refused}
	return watch.Run(ctx)
}

// gapOf returns the gap for a refusal, nil for nil.
func gapOf(r *feed.Refusal) *input.Gap {
	switch {
	case r == nil:
		return nil
	case r.Unwatched():
		return ptr.To(gather.UnwatchedGap(r.Call.Namespace, r.Call.Resource, r.RetryAfter))
	}
	return ptr.To(gather.GapOf(r.Call.Namespace, "list", r.Call.Resource, r.Err))
}

package cli

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// liveFacts is what is known of the belongings of one Job. All of it is under source.mu.
type liveFacts struct {
	changed bool         // since the last report
	job     *batchv1.Job // in its latest state

	pods      *liveRows[explain.Pod]
	podsRead  bool          // they are all there are
	podsTried bool          // there was an answer, if only an error
	podsGap   *explain.Gap  // nil for none
	podsFirst chan struct{} // closed with the first answer

	events [2]liveEvents // of the Job, of its pods

	lease      *explain.Lease
	leaseUntil time.Time // when it says nothing any more
	goneNodes  map[string]string
	nodesGap   *explain.Gap
	overdue    chan struct{} // the pods were read

	tails     []explain.LogTail
	tailsGap  *explain.Gap
	asked     string             // the evidence for which tails were asked for last
	wantTails chan explain.Facts // at most one: the latest
}

func newLiveFacts() *liveFacts {
	f := &liveFacts{
		pods: newLiveRows[explain.Pod](), podsFirst: make(chan struct{}), overdue: make(chan struct{}, 1), wantTails: make(chan explain.Facts, 1),
	}
	for i := range f.events {
		f.events[i].reset()
	}
	return f
}

// touch asks for another report. s.mu is held.
func (f *liveFacts) touch(s *liveSource) {
	f.changed = true
	notify(s.news)
}

// triedPods notes that there was an answer. s.mu is held.
func (f *liveFacts) triedPods() {
	if !f.podsTried {
		f.podsTried = true
		close(f.podsFirst)
	}
}

// podChanged has the pod that is open read again, if it is this one. s.mu is held.
func (s *liveSource) podChanged(name string) {
	if s.pod != nil && s.pod.name == name {
		notify(s.pod.news)
	}
}

// hasPod says whether a pod of the Job has this name.
func (f *liveFacts) hasPod(name string) bool { return f.pods.get(name) != nil }

// gaps are what could not be read, each once, with those of the Job itself.
func (f *liveFacts) gaps(ofJob ...*explain.Gap) []explain.Gap {
	var gaps []explain.Gap
	ofEvents := []*explain.Gap{f.events[0].gap, f.events[0].unwatched, f.events[1].gap, f.events[1].unwatched}
	for _, gap := range slices.Concat(ofJob, []*explain.Gap{f.podsGap}, ofEvents, []*explain.Gap{f.nodesGap, f.tailsGap}) {
		if gap != nil && !slices.Contains(gaps, *gap) {
			gaps = append(gaps, *gap)
		}
	}
	return gaps
}

// factsOf is what an explanation rests on. Pods and events are copied into what scratch has room for. source.mu is held.
func (j *liveJob) factsOf(now time.Time, scratch *liveDraft) explain.Facts {
	f := j.facts
	scratch.pods = append(scratch.pods[:0], f.pods.rows...)
	scratch.events = append(append(scratch.events[:0], f.events[0].rows.rows...), f.events[1].rows.rows...)
	facts := explain.Facts{
		Now: now, OurName: controller.DefaultManagedBy, Job: &j.job.Job, RuleNames: j.job.RuleNames,
		PodsRead: f.podsRead, Pods: scratch.pods, EventsRead: f.events[0].whole() && f.events[1].whole(), Events: scratch.events,
		GoneNodes: f.goneNodes, Logs: f.tails, Gaps: f.gaps(j.unread, j.unwatchedGap),
	}
	if f.lease != nil && !now.After(f.leaseUntil) {
		facts.Lease = f.lease
	}
	return facts
}

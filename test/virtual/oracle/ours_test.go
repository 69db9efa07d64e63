package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/differences"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/play"
)

const (
	// maxSteps, maxCommits and maxTime bound a case in the virtual cluster.
	maxSteps   = 200_000
	maxCommits = 20_000
	maxTime    = 48 * time.Hour
)

// player plays a case with our controller in the virtual cluster.
type player struct {
	world          *sim.World
	steps, commits int
	// names maps the cluster's pod names to the model's.
	names    map[string]string
	nth      map[int]int
	made     []model.Made
	finished time.Duration
}

// ours plays a case to rest with our controller.
func ours(c *model.Case, seed uint64) (_ model.Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	p := &player{names: map[string]string{}, nth: map[int]int{}, finished: model.Never}
	p.world = sim.NewWorld(sim.Options{Seed: seed, OnCommit: p.committed})
	if err := play.Start(p.world, c); err != nil {
		return model.Outcome{}, err
	}
	for _, e := range c.Edits {
		p.runFor(e.At - p.world.Elapsed())
		if err := play.Apply(p.world, e); err != nil {
			return model.Outcome{}, fmt.Errorf("%s %d: %w", e.Action, e.Value, err)
		}
	}
	p.runFor(maxTime)
	if p.steps >= maxSteps {
		return model.Outcome{}, fmt.Errorf("no rest after %d steps", p.steps)
	}
	return p.outcome(), nil
}

func (p *player) runFor(d time.Duration) {
	p.world.RunUntil(func() bool {
		p.steps++
		return p.steps >= maxSteps
	}, d)
}

// committed records data that the status does not contain: the created pods and their creation times.
func (p *player) committed(c sim.Commit) {
	if p.commits++; p.commits > maxCommits {
		panic("no rest: a sync writes without end")
	}
	switch {
	case c.NewPod != nil && c.OldPod == nil:
		index := int(history.IndexOf(c.NewPod))
		p.nth[index]++
		p.names[c.NewPod.Name] = model.PodName(index, p.nth[index])
		p.made = append(p.made, model.Made{Index: index, Nth: p.nth[index], At: p.world.Elapsed()})
	case c.NewJob != nil && p.finished == model.Never && reconcile.IsFinished(c.NewJob):
		p.finished = p.world.Elapsed()
	}
}

// outcome returns the outcome of the Job.
func (p *player) outcome() model.Outcome {
	job := p.world.Store.Job(play.JobName)
	if job == nil {
		return model.Outcome{Gone: true}
	}
	s := job.Status
	o := model.Outcome{
		Active: s.Active, Ready: ptr.Deref(s.Ready, -1), Terminating: ptr.Deref(s.Terminating, -1), Succeeded: s.Succeeded, Failed: s.Failed,
		CompletedIndexes: s.CompletedIndexes, FailedIndexes: ptr.Deref(s.FailedIndexes, "nil"),
		Start: p.since(s.StartTime), End: p.since(s.CompletionTime), Finished: p.finished, Pods: p.made,
	}
	if u := s.UncountedTerminatedPods; u != nil {
		o.Uncounted = len(u.Failed) + len(u.Succeeded)
	}
	for _, c := range s.Conditions {
		o.Conditions = append(o.Conditions, model.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: differences.WithoutLastFailure(c.Reason, p.renamed(c.Message))})
	}
	slices.SortFunc(o.Conditions, func(a, b model.Condition) int { return cmp.Compare(a.Type, b.Type) })
	slices.SortFunc(o.Pods, func(a, b model.Made) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Nth, b.Nth)) })
	if reconcile.IsFinished(job) {
		for _, pod := range p.world.Store.PodsOf(job.UID) {
			if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
				o.Tracked++
			}
		}
	}
	return o
}

// since converts a time of the status to the time since the start.
func (p *player) since(t *metav1.Time) time.Duration {
	if t == nil {
		return model.Never
	}
	return t.Sub(p.world.Now().Add(-p.world.Elapsed()))
}

// renamed replaces the pod names in a message by the model's.
func (p *player) renamed(message string) string {
	var pairs []string
	for name, other := range p.names {
		// The character after the name prevents a match of p1 in p12.
		pairs = append(pairs, name+" ", other+" ")
	}
	return strings.NewReplacer(pairs...).Replace(message)
}

package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// World is a virtual cluster with a Checker, and helpers for tests.
type World struct {
	*sim.World
	Checker *Checker
}

// NewWorld returns a World with a thorough Checker.
func NewWorld(o sim.Options) *World { return NewWorldWith(Checks{}, o) }

// NewWorldWith returns a World with the given Checks.
func NewWorldWith(how Checks, o sim.Options) *World {
	o.MaxWrites = cmp.Or(o.MaxWrites, 20_000)
	w := sim.NewWorld(o)
	c := &Checker{
		excuses: excuses{world: w}, trace: trace{of: w, Untraced: how.Untraced}, CoreEvery: how.CoreEvery,
		jobs: map[types.UID]*History{}, Owners: map[types.UID]types.UID{}, Touched: map[types.UID]time.Time{}, Generated: map[string][]string{},
	}
	w.Attach(c)
	return &World{w, c}
}

// SwitchFeatures starts a new controller process with other features.
func (w *World) SwitchFeatures(f reconcile.Features) {
	w.Controller.Limits.Features = f
	w.Checker.regated()
	w.Restart()
}

// Settle lets virtual time pass and returns an error if the controller writes: at rest it writes nothing (L3), and
// nothing is left over (L2, S3). Postponed gauges may still follow in the first two batch periods.
func (w *World) Settle(d time.Duration) error {
	w.RunUntil(func() bool { return false }, 2*time.Second+w.Lag)
	c := w.Checker
	before := c.ownWrites
	w.RunUntil(func() bool { return false }, d)
	c.AtRest()
	if n := c.ownWrites - before; n > 0 {
		return fmt.Errorf("%d writes while nothing happened", n)
	}
	return nil
}

// Edit changes the spec of the Job named a.
func (w *World) Edit(change func(*batchv1.JobSpec)) {
	if _, err := w.Store.EditJob("a", func(job *batchv1.Job) { change(&job.Spec) }); err != nil {
		panic(err)
	}
}

// EditJobs edits each Job, in the order of their names, and returns the names of the Jobs that could be edited.
func (w *World) EditJobs(edit func(*batchv1.Job)) (edited []string) {
	for _, name := range slices.Sorted(maps.Keys(w.Store.Jobs())) {
		if _, err := w.Store.EditJob(name, edit); err == nil {
			edited = append(edited, name)
		}
	}
	return edited
}

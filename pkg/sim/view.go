package sim

import (
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// What follows shows the state of a World to its Observer and its Decider, which only read it.

// Process is a controller process. Two are equal if they are the same process; the zero Process is none.
type Process struct{ p *process }

// Processes returns the controller processes that run.
func (w *World) Processes() []Process {
	out := make([]Process, len(w.processes))
	for i, p := range w.processes {
		out[i] = Process{p}
	}
	return out
}

// Exists reports whether p is a process: the zero Process is none.
func (p Process) Exists() bool { return p.p != nil }

// IsAlive reports whether the process has not ended.
func (p Process) IsAlive() bool { return p.p.alive }

// Number is the place of the process among all that were ever started, from 1: that of its commits.
func (p Process) Number() int { return p.p.number }

// Options are those that the process was started with.
func (p Process) Options() ProcessOptions { return p.p.ProcessOptions }

// Features are those that the process was started with.
func (p Process) Features() reconcile.Features { return p.p.features }

// IsWorking reports whether the namespace of the World belongs to the process's shard.
func (p Process) IsWorking() bool { return p.p.isWorking() }

// Syncs reports whether the process is in the middle of a sync of the Job.
func (p Process) Syncs(job types.UID) bool { return p.p.running[job] }

// SyncsAny reports whether the process is in the middle of any sync.
func (p Process) SyncsAny() bool { return len(p.p.running) > 0 }

// Listing returns the Job, as the process knew it, whose pods it listed last, and whether it listed all pods.
func (p Process) Listing() (job *batchv1.Job, all bool) { return p.p.lists.job, p.p.lists.all }

// Cache is the process's cache.
func (p Process) Cache() *observe.Cache { return p.p.cache }

// Memory is all that decides what a process does next, apart from its syncs: a model checker compares it. Nothing of it
// may be changed.
type Memory struct {
	Engine     *controller.Engine
	Dispatcher *controller.Dispatcher
	// DueAt is when each Job is synced next, Retries how often its sync has failed. Running are the Jobs
	// that are being synced, Again those that are to be synced once more then.
	DueAt          map[types.UID]time.Time
	Retries        map[types.UID]int
	Running, Again map[types.UID]bool
	Jobs, Pods     Watch
}

// Watch is how far a watch is: it has delivered all up to a version, and may be closed.
type Watch struct {
	Seen int64
	Open bool
}

// Memory returns what the process has in memory.
func (p Process) Memory() Memory {
	q := p.p
	dueAt := maps.Clone(q.dueAt)
	maps.DeleteFunc(dueAt, func(job types.UID, _ time.Time) bool { return q.due[job] == 0 })
	return Memory{
		Engine: q.engine, Dispatcher: q.dispatcher, DueAt: dueAt, Retries: q.retries, Running: q.running, Again: q.again,
		Jobs: Watch{q.jobs.seen, q.jobs.open}, Pods: Watch{q.pods.seen, q.pods.open},
	}
}

// Wrote reports whether the process made a write itself, and got the answer.
func (p Process) Wrote(c Commit) bool {
	return c.By == p.p.number && !c.Late() && !p.p.world.journal.lost[c.Version]
}

// Undelivered returns when the commits were made that the process's watches have not delivered; own includes those
// that it made itself and got the answer of.
func (p Process) Undelivered(own bool) (all []time.Time) {
	if !p.IsWorking() {
		return nil
	}
	for _, s := range []*stream{p.p.jobs, p.p.pods} {
		all = slices.AppendSeq(all, s.undelivered(s.seen, own))
	}
	return all
}

// undelivered yields when the commits were made that a watch has not delivered, if it has delivered all up to a version.
func (s *stream) undelivered(seen int64, own bool) iter.Seq[time.Time] {
	j := &s.process.world.journal
	return func(yield func(time.Time) bool) {
		for i := len(j.commits) - len(j.Since(seen)); i < len(j.commits); i++ {
			c := j.commits[i]
			if c.isWatched() && c.resource() == s.resource && (own || !Process{s.process}.Wrote(c)) && !yield(j.at[i]) {
				return
			}
		}
	}
}

// Saw reports whether the process made one of the writes of an object that count, or its watch showed what was written. of
// reports whether a commit is one of the object.
func (p Process) Saw(of, counts func(Commit) bool) bool {
	commits := slices.DeleteFunc(slices.Clone(p.p.world.journal.commits), func(c Commit) bool { return !of(c) })
	for i, c := range commits {
		s, until := p.p.pods, int64(math.MaxInt64)
		if c.resource() == jobsOnly {
			s = p.p.jobs
		}
		if i+1 < len(commits) {
			until = commits[i+1].Version
		}
		listed := slices.ContainsFunc(s.lists, func(l listing) bool { return c.Version <= l.version && l.version < until })
		missed := slices.ContainsFunc(s.lists, func(l listing) bool { return l.before < c.Version && c.Version <= l.version })
		if counts(c) && (p.Wrote(c) || listed || !missed && c.Version <= s.seen) {
			return true
		}
	}
	return false
}

// Watches reports whether a controller's watch delivers the pod.
func Watches(pod *corev1.Pod) bool { return watches(pod) }

// Writing returns what the process that makes the present write knew when it planned that, and when it made the call, if it
// no longer waits for the answer.
func (s *Store) Writing() (knew Knowledge, asked time.Time) { return s.knew, s.asked }

// Process is the one that knows, or none.
func (k Knowledge) Process() Process { return Process{k.process} }

// MissesSince returns when the first commit was made that is not known; known reports whether all are.
func (k Knowledge) MissesSince() (at time.Time, known bool) {
	known = true
	for first := range k.process.jobs.undelivered(k.jobs, false) {
		at, known = first, false
		break
	}
	for first := range k.process.pods.undelivered(k.pods, false) {
		if known || first.Before(at) {
			at, known = first, false
		}
		break
	}
	return at, known
}

// IsJob reports whether the commit is one of a Job, and not of a pod.
func (c Commit) IsJob() bool { return c.resource() == jobsOnly }

// Calls returns how many API calls the controller has made.
func (w *World) Calls() int { return w.calls }

// Started returns how many controller processes were ever started.
func (w *World) Started() int { return len(w.started) }

// GiveUp ends the simulation.
func (w *World) GiveUp(reason string) { w.gaveUp = reason }

// Jobs returns the stored Jobs by name, and Pods the pods. Neither may be changed.
func (s *Store) Jobs() map[string]*batchv1.Job { return s.jobs }

// Pods returns the stored pods by name. They may not be changed.
func (s *Store) Pods() map[string]*corev1.Pod { return s.pods }

// PodByUID returns the stored pod, or nil. It may not be changed.
func (s *Store) PodByUID(uid types.UID) *corev1.Pod { return s.byUID[uid] }

// CountPods returns how many pods a Job controls.
func (s *Store) CountPods(job types.UID) int { return len(s.podsOf(job)) }

// StoreState is what a Store has besides Jobs and pods.
type StoreState struct {
	// Version is that of the last write, Generated how many names were generated, Quota the limit of SetQuota.
	Version          int64
	Generated, Quota int
	// Terminating reports whether the namespace is being deleted.
	Terminating bool
}

// State returns what the Store has besides Jobs and pods.
func (s *Store) State() StoreState { return StoreState{s.version, s.names, s.quota, s.terminating} }

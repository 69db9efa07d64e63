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

// The following gives the Observer and the Decider of a World read access to its state.

// Process is a controller process. Two Processes are equal if they are the same process; the zero Process is none.
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

// Number returns the position of the process among all that were ever started, from 1. Commits have it as By.
func (p Process) Number() int { return p.p.number }

// Options returns the options that the process was started with.
func (p Process) Options() ProcessOptions { return p.p.ProcessOptions }

// Features returns the features that the process was started with.
func (p Process) Features() reconcile.Features { return p.p.features }

// IsWorking reports whether the namespace of the World belongs to the process's shard.
func (p Process) IsWorking() bool { return p.p.isWorking() }

// Syncs reports whether the process is in the middle of a sync of the Job.
func (p Process) Syncs(job types.UID) bool { return p.p.running[job] }

// SyncsAny reports whether the process is in the middle of any sync.
func (p Process) SyncsAny() bool { return len(p.p.running) > 0 }

// Listing returns the Job, as the process knew it, whose pods the process listed last, and whether it listed all pods.
func (p Process) Listing() (job *batchv1.Job, all bool) { return p.p.lists.job, p.p.lists.all }

// Cache returns the process's cache.
func (p Process) Cache() *observe.Cache { return p.p.cache }

// Memory is all state that determines what a process does next, apart from its syncs: a model checker compares it. The
// caller must not change it.
type Memory struct {
	Engine     *controller.Engine
	Dispatcher *controller.Dispatcher
	// DueAt is when each Job is synced next, Retries how often its sync has failed. Running are the Jobs that are being
	// synced, Again the Jobs to sync once more after that.
	DueAt          map[types.UID]time.Time
	Retries        map[types.UID]int
	Running, Again map[types.UID]bool
	Jobs, Pods     Watch
}

// Watch is the state of a watch: it has delivered all events up to version Seen, and may be closed.
type Watch struct {
	Seen int64
	Open bool
}

// Memory returns the process's Memory.
func (p Process) Memory() Memory {
	q := p.p
	dueAt := maps.Clone(q.dueAt)
	maps.DeleteFunc(dueAt, func(job types.UID, _ time.Time) bool { return q.due[job] == 0 })
	return Memory{
		Engine: q.engine, Dispatcher: q.dispatcher, DueAt: dueAt, Retries: q.retries, Running: q.running, Again: q.again,
		Jobs: Watch{q.jobs.seen, q.jobs.open}, Pods: Watch{q.pods.seen, q.pods.open},
	}
}

// Wrote reports whether the process made a write itself, and got the response.
func (p Process) Wrote(c Commit) bool {
	return c.By == p.p.number && !c.Late() && !p.p.world.journal.lost[c.Version]
}

// Undelivered returns the times of the commits that the process's watches have not delivered; own includes the
// process's own commits whose response it got.
func (p Process) Undelivered(own bool) (all []time.Time) {
	if !p.IsWorking() {
		return nil
	}
	for _, s := range []*stream{p.p.jobs, p.p.pods} {
		all = slices.AppendSeq(all, s.undelivered(s.seen, own))
	}
	return all
}

// undelivered yields the times of the commits that a watch has not delivered, if it has delivered all up to the version
// seen.
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

// Saw reports whether the process made a counted write of an object itself, or its watch showed the result of one. of
// reports whether a commit belongs to the object.
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

// Writing returns what the process that makes the current write knew when it planned it, and the time of the call, if
// the process no longer waits for the response.
func (s *Store) Writing() (knew Knowledge, asked time.Time) { return s.knew, s.asked }

// Process returns the process that has the Knowledge, or none.
func (k Knowledge) Process() Process { return Process{k.process} }

// MissesSince returns the time of the first commit that the process does not know; known reports whether it knows all.
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

// IsJob reports whether the commit is about a Job, not a pod.
func (c Commit) IsJob() bool { return c.resource() == jobsOnly }

// Calls returns how many API calls the controller has made.
func (w *World) Calls() int { return w.calls }

// Started returns how many controller processes were ever started.
func (w *World) Started() int { return len(w.started) }

// GiveUp ends the simulation.
func (w *World) GiveUp(reason string) { w.gaveUp = reason }

// Jobs returns the stored Jobs by name. The caller must not change them.
func (s *Store) Jobs() map[string]*batchv1.Job { return s.jobs }

// Pods returns the stored pods by name. The caller must not change them.
func (s *Store) Pods() map[string]*corev1.Pod { return s.pods }

// PodByUID returns the stored pod, or nil. The caller must not change it.
func (s *Store) PodByUID(uid types.UID) *corev1.Pod { return s.byUID[uid] }

// CountPods returns how many pods a Job controls.
func (s *Store) CountPods(job types.UID) int { return len(s.podsOf(job)) }

// StoreState is the state of a Store besides Jobs and pods.
type StoreState struct {
	// Version is the version of the last write, Generated the number of generated names, Quota the limit of SetQuota.
	Version          int64
	Generated, Quota int
	// Terminating reports whether the namespace is being deleted.
	Terminating bool
}

// State returns the state of the Store besides Jobs and pods.
func (s *Store) State() StoreState { return StoreState{s.version, s.names, s.quota, s.terminating} }

package sim

import (
	"maps"
	"slices"
	"sort"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// journal holds every commit, so that lists can be old. Only a World with an observer keeps
// one; in others lists are current.
type journal struct {
	kept    bool
	commits []Commit
	at      []time.Time
	// lost are the versions of writes whose answers were lost.
	lost map[int64]bool
}

// unanswered notes that the answer to a write was lost; there was none if the versions before and
// after it are the same.
func (j *journal) unanswered(before, after int64) {
	if j.lost == nil {
		j.lost = map[int64]bool{}
	}
	j.lost[after] = j.lost[after] || after > before
}

func (j *journal) add(c Commit, at time.Time) {
	if j.kept {
		j.commits = append(j.commits, c)
		j.at = append(j.at, at)
	}
}

// versionAt returns the version of the store at a time.
func (w *World) versionAt(t time.Time) int64 {
	if !w.journal.kept || !t.Before(w.Now()) {
		return w.Store.version
	}
	n := sort.Search(len(w.journal.at), func(i int) bool { return w.journal.at[i].After(t) })
	if n == 0 {
		return 0
	}
	return w.journal.commits[n-1].Version
}

// age returns how long ago the first write after a version was made.
func (w *World) age(version int64) time.Duration {
	if n := len(w.journal.at) - len(w.since(version)); n < len(w.journal.at) {
		return w.Now().Sub(w.journal.at[n]).Round(time.Millisecond)
	}
	return 0
}

// since returns the commits after a version.
func (w *World) since(version int64) []Commit {
	n := sort.Search(len(w.journal.commits), func(i int) bool { return w.journal.commits[i].Version > version })
	return w.journal.commits[n:]
}

// listAt returns what was stored at a version, by name.
func (w *World) listAt(version int64, of resource) (objects []any) {
	jobs, pods := w.Store.jobs, w.Store.pods
	if version < w.Store.version {
		jobs, pods = w.journal.state(version)
	}
	if of == jobsOnly {
		for _, name := range slices.Sorted(maps.Keys(jobs)) {
			objects = append(objects, jobs[name])
		}
		return objects
	}
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		objects = append(objects, pods[name])
	}
	return objects
}

func (j *journal) state(version int64) (map[string]*batchv1.Job, map[string]*corev1.Pod) {
	jobs, pods := map[string]*batchv1.Job{}, map[string]*corev1.Pod{}
	for _, c := range j.commits {
		switch {
		case c.Version > version:
			return jobs, pods
		case c.NewJob != nil:
			jobs[c.NewJob.Name] = c.NewJob
		case c.OldJob != nil:
			delete(jobs, c.OldJob.Name)
		case c.NewPod != nil:
			pods[c.NewPod.Name] = c.NewPod
		default:
			delete(pods, c.OldPod.Name)
		}
	}
	return jobs, pods
}

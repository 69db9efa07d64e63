package sim

import (
	"maps"
	"slices"
	"sort"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Journal holds every commit, so that lists can be old. Only a World with an Observer keeps the commits; in others,
// lists are current.
type Journal struct {
	kept    bool
	commits []Commit
	at      []time.Time
	// lost holds the versions of writes whose responses were lost.
	lost map[int64]bool
}

// unanswered records that the response to a write was lost; if the versions before and after it are the same, nothing
// was written.
func (j *Journal) unanswered(before, after int64) {
	if j.lost == nil {
		j.lost = map[int64]bool{}
	}
	j.lost[after] = j.lost[after] || after > before
}

func (j *Journal) add(c Commit, at time.Time) {
	if j.kept {
		j.commits = append(j.commits, c)
		j.at = append(j.at, at)
	}
}

// Journal returns the commits so far.
func (w *World) Journal() *Journal { return &w.journal }

// Commits returns all commits, in order.
func (j *Journal) Commits() []Commit { return j.commits }

// Since returns the commits after a version.
func (j *Journal) Since(version int64) []Commit {
	n := sort.Search(len(j.commits), func(i int) bool { return j.commits[i].Version > version })
	return j.commits[n:]
}

// IsAnswerLost reports whether the response to the write with this version was lost.
func (j *Journal) IsAnswerLost(version int64) bool { return j.lost[version] }

// versionAt returns the version of the store at a time.
func versionAt(w *World, t time.Time) int64 {
	if !w.journal.kept || !t.Before(w.Now()) {
		return w.Store.version
	}
	n := sort.Search(len(w.journal.at), func(i int) bool { return w.journal.at[i].After(t) })
	if n == 0 {
		return 0
	}
	return w.journal.commits[n-1].Version
}

// age returns the time since the first write after a version; 0 if there is none.
func age(w *World, version int64) time.Duration {
	if n := len(w.journal.at) - len(w.journal.Since(version)); n < len(w.journal.at) {
		return w.Now().Sub(w.journal.at[n]).Round(time.Millisecond)
	}
	return 0
}

// JobsAt returns the Jobs that were stored at a version, by name.
func JobsAt(w *World, version int64) []any { return listAt(w, version, jobsOnly) }

// PodsAt returns the pods that were stored at a version, by name.
func PodsAt(w *World, version int64) []any { return listAt(w, version, podsOnly) }

func listAt(w *World, version int64, of resource) (objects []any) {
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

func (j *Journal) state(version int64) (map[string]*batchv1.Job, map[string]*corev1.Pod) {
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

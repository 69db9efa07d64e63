package snapshot

import (
	"context"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// JobKey names a Job.
type JobKey struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// IsZero reports whether it names no Job.
func (k JobKey) IsZero() bool { return k == JobKey{} }

// Focus is what a user looks at, and so what a Source has to keep up with beside the list
// of Jobs. The zero value is the list alone.
type Focus struct {
	// Job is the one that is open.
	Job JobKey `json:"job,omitzero"`
	// Pod is the pod of it that is open, "" for none.
	Pod string `json:"pod,omitempty"`
	// Log is what is read of the pod, nil for nothing.
	Log *LogTarget `json:"log,omitempty"`
	// Preview reports that the Job is shown beside the list, which is the screen.
	Preview bool `json:"preview,omitempty"`
}

// Opened is the Focus without what is only a preview: that of the list is zero.
func (f Focus) Opened() Focus {
	if f.Preview {
		return Focus{}
	}
	return f
}

// Equal reports whether both are the same.
func (f Focus) Equal(g Focus) bool {
	if f.Job != g.Job || f.Pod != g.Pod || f.Preview != g.Preview || (f.Log == nil) != (g.Log == nil) {
		return false
	}
	return f.Log == nil || *f.Log == *g.Log
}

// LogTarget is one log of the open pod.
type LogTarget struct {
	// Container is "" for the one that the pod means by default.
	Container string `json:"container,omitempty"`
	// Previous asks for the run before the last restart.
	Previous bool `json:"previous,omitempty"`
}

// Snapshot is what is known at one moment.
type Snapshot struct {
	// Seq counts the Snapshots of a Source, from 1.
	Seq uint64 `json:"seq"`
	// Time is when it was made. What is in it is relative to AsOf.
	Time time.Time `json:"time"`
	// Focus is what it is about. It follows Source.Look with a delay.
	Focus Focus `json:"focus"`
	// Wanted is what was looked at when a recording took the Snapshot, if that was not yet
	// the Focus; nil in others.
	Wanted *Focus `json:"wanted,omitempty"`
	// Link is the state of the connection.
	Link Link `json:"link"`
	// Jobs is the list of Jobs; nil until it was read.
	Jobs *Jobs `json:"jobs,omitempty"`
	// Job is about the one in focus; nil without one, and until it was read.
	Job *Job `json:"job,omitempty"`
	// Pod is about the one in focus; nil without one, and until it was read.
	Pod *explain.PodDetail `json:"pod,omitempty"`
	// Log is the log in focus; nil without one, and until the first answer.
	Log *Log `json:"log,omitempty"`
}

// Link is the state of the connection to the API server. The zero value is a good one.
type Link struct {
	// StaleSince is when what is shown stopped being kept up to date; nil while it is.
	StaleSince *time.Time `json:"staleSince,omitempty"`
	// Silent reports that nothing answers, although no connection has failed.
	Silent bool `json:"silent,omitempty"`
	// Answered reports that the API server answers, with errors: no connection is lost.
	Answered bool `json:"answered,omitempty"`
	// Why is one line.
	Why string `json:"why,omitempty"`
}

// AsOf is the time that the Snapshot is about: that of the last answer while it is stale.
func (s *Snapshot) AsOf() time.Time {
	if since := s.Link.StaleSince; since != nil {
		return *since
	}
	return s.Time
}

// Jobs is the list.
type Jobs struct {
	// Items are sorted by namespace and name.
	Items []explain.Outline `json:"items"`
	// Gone are Jobs of the list that were deleted, as they were seen last, the latest last;
	// at most 1,000.
	Gone []explain.Outline `json:"gone,omitempty"`
	// Gaps are why Jobs that are stalled may not be shown so.
	Gaps []explain.Gap `json:"gaps,omitempty"`
}

// Job is the open one.
type Job struct {
	// Report is as of its ObservedAt, which may be before the Snapshot's Time.
	Report *explain.Report `json:"report"`
	// Gone is true once the Job was deleted; the Report is the last one.
	Gone bool `json:"gone,omitempty"`
	// GoneAt is when that was seen; nil for a Job that was never there.
	GoneAt *time.Time `json:"goneAt,omitempty"`
}

// Log is the end of a log.
type Log struct {
	Target LogTarget `json:"target"`
	// Container is the one that was read.
	Container string    `json:"container"`
	Lines     []LogLine `json:"lines,omitempty"`
	// Dropped is how many lines before them were read and are not kept.
	Dropped int `json:"dropped,omitempty"`
	// Ended is true if no more lines will come.
	Ended bool `json:"ended,omitempty"`
	// Why is why there is nothing, or no more: one line, "" if there is no trouble.
	Why string `json:"why,omitempty"`
}

// LogLine is one line.
type LogLine struct {
	// Time is when it was written; zero if that is not known.
	Time time.Time `json:"time,omitzero"`
	Text string    `json:"text"`
}

// Source makes Snapshots.
type Source interface {
	// Look sets what to watch from now on. It does not block.
	Look(Focus)
	// Next waits for a Snapshot with a Seq above seen, and returns the latest. A Source
	// paces itself: there are at most some ten a second. It returns an error when there
	// will be no more: the context's, io.EOF at the end of a recording, or what ended it.
	Next(ctx context.Context, seen uint64) (*Snapshot, error)
}

// Looked is what was looked at.
func (s *Snapshot) Looked() Focus {
	if s.Wanted != nil {
		return *s.Wanted
	}
	return s.Focus
}

// IsShown reports whether there is something to show.
func (s *Snapshot) IsShown() bool { return s.Jobs != nil || s.Job != nil }

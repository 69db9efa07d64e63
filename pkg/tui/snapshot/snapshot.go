package snapshot

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// Focus is what the user looks at, so that a Source must watch it in addition to the list of Jobs. The zero value means only
// the list.
type Focus struct {
	// Job is the open Job.
	Job types.NamespacedName `json:"job,omitzero"`
	// CronJob is the open CronJob, zero for none; Job is zero then.
	CronJob types.NamespacedName `json:"cronJob,omitzero"`
	// Pod is the open pod of the Job, "" for none.
	Pod string `json:"pod,omitempty"`
	// Log is the open log of the pod, nil for none.
	Log *LogTarget `json:"log,omitempty"`
	// Preview is set if the Job is only shown next to the list.
	Preview bool `json:"preview,omitempty"`
}

// MarshalJSON writes the fields of the Job and the CronJob in lower case, which types.NamespacedName has no tags for. Decoding ignores case.
func (f Focus) MarshalJSON() ([]byte, error) {
	type fields Focus
	type key struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	}
	return json.Marshal(struct {
		Job     key `json:"job,omitzero"`
		CronJob key `json:"cronJob,omitzero"`
		fields
	}{key(f.Job), key(f.CronJob), fields(f)})
}

// Opened returns the Focus without a preview: the Focus of a list becomes zero.
func (f Focus) Opened() Focus {
	if f.Preview {
		return Focus{}
	}
	return f
}

// Equal reports whether both are equal by content.
func (f Focus) Equal(g Focus) bool {
	if f.Job != g.Job || f.CronJob != g.CronJob || f.Pod != g.Pod || f.Preview != g.Preview || (f.Log == nil) != (g.Log == nil) {
		return false
	}
	return f.Log == nil || *f.Log == *g.Log
}

// LogTarget identifies a log of the open pod, or the logs of the failed pods of the open Job.
type LogTarget struct {
	// Failed selects the logs of all failed pods of the Job, one after the other; no pod is open then.
	Failed bool `json:"failed,omitempty"`
	// Container is "" for the pod's default container.
	Container string `json:"container,omitempty"`
	// Previous selects the run before the last restart.
	Previous bool `json:"previous,omitempty"`
}

// Snapshot is the data at one moment.
type Snapshot struct {
	// Seq counts the Snapshots of a Source, from 1.
	Seq uint64 `json:"seq"`
	// Time is when the Snapshot was made. The times in it are relative to AsOf.
	Time time.Time `json:"time"`
	// Focus is the focus of the Snapshot. It follows Source.Look with a delay.
	Focus Focus `json:"focus"`
	// Wanted is the last Focus passed to Look when the Snapshot was recorded, if it differs from Focus; otherwise nil.
	Wanted *Focus `json:"wanted,omitempty"`
	// Link is the state of the connection.
	Link Link `json:"link"`
	// Jobs is the list of Jobs; nil until it was read.
	Jobs *Jobs `json:"jobs,omitempty"`
	// Job is the Job in focus; nil if there is none, and until it was read.
	Job *Job `json:"job,omitempty"`
	// CronJob is the CronJob in focus; nil if there is none, and until it was read.
	CronJob *explain.CronJobReport `json:"cronJob,omitempty"`
	// Pod is the pod in focus; nil if there is none, and until it was read.
	Pod *explain.PodDetail `json:"pod,omitempty"`
	// Log is the log in focus; nil if there is none, and until the first response.
	Log *Log `json:"log,omitempty"`
}

// Link is the state of the connection to the API server; in its zero value the connection is up.
type Link struct {
	// StaleSince is the time since which the data is out of date; nil if it is up to date.
	StaleSince *time.Time `json:"staleSince,omitempty"`
	// Silent is set if the server does not respond although no connection has failed.
	Silent bool `json:"silent,omitempty"`
	// Answered is set if the API server responds with errors, and no connection is lost.
	Answered bool `json:"answered,omitempty"`
	// Why is the reason, in one line.
	Why string `json:"why,omitempty"`
}

// AsOf returns the time of the data: the time of the last response if the data is stale.
func (s *Snapshot) AsOf() time.Time {
	if since := s.Link.StaleSince; since != nil {
		return *since
	}
	return s.Time
}

// Jobs is the list of Jobs.
type Jobs struct {
	// Items are sorted by namespace and name.
	Items []explain.Outline `json:"items"`
	// Gone are Jobs of the list that were deleted, in their last known state, the latest deletion last; at most 1,000.
	Gone []explain.Outline `json:"gone,omitempty"`
	// Gaps are data that could not be read, so that stalled Jobs may not be recognized.
	Gaps []input.Gap `json:"gaps,omitempty"`
}

// Job is the open Job.
type Job struct {
	// Report is as of its ObservedAt, which may be before the Snapshot's Time.
	Report *explain.Report `json:"report"`
	// Gone is set when the Job was deleted; Report is the last one.
	Gone bool `json:"gone,omitempty"`
	// GoneAt is when the deletion was seen; nil for a Job that never existed.
	GoneAt *time.Time `json:"goneAt,omitempty"`
}

// Log is the end of a log.
type Log struct {
	Target LogTarget `json:"target"`
	// Container is the container whose log was read.
	Container string    `json:"container"`
	Lines     []LogLine `json:"lines,omitempty"`
	// Dropped is the number of earlier lines that were read but are not kept.
	Dropped int `json:"dropped,omitempty"`
	// Ended is set if no more lines will arrive.
	Ended bool `json:"ended,omitempty"`
	// Why is the reason why there are no lines, or no more; "" if there is no problem. It is one line; of the logs of failed
	// pods, a line for each reason.
	Why string `json:"why,omitempty"`
}

// LogLine is one line.
type LogLine struct {
	// Pod names the pod, and the container if there are several, in the logs of failed pods; otherwise "".
	Pod string `json:"pod,omitempty"`
	// Time is when the line was written; zero if it is unknown.
	Time time.Time `json:"time,omitzero"`
	Text string    `json:"text"`
}

// Source makes Snapshots.
type Source interface {
	// Look sets the Focus to watch from now on. It does not block.
	Look(Focus)
	// Next waits for a Snapshot with a Seq above seen, and returns the latest one. A Source limits its pace to about ten
	// Snapshots a second. After the last one, Next returns an error: the context's, io.EOF at the end of a recording, or the
	// error that ended the Source.
	Next(ctx context.Context, seen uint64) (*Snapshot, error)
}

// Looked returns the Focus that the user had requested.
func (s *Snapshot) Looked() Focus {
	if s.Wanted != nil {
		return *s.Wanted
	}
	return s.Focus
}

// IsShown reports whether the Snapshot has data to show.
func (s *Snapshot) IsShown() bool { return s.Jobs != nil || s.Job != nil || s.CronJob != nil }

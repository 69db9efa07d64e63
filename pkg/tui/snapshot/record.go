package snapshot

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// The kinds of what is written to files; the version is explain.APIVersion.
const (
	// KindRecording is the first line of a recording. A line for each Snapshot follows.
	KindRecording = "WatchRecording"
	// KindSnapshot is a single Snapshot.
	KindSnapshot = "WatchSnapshot"
)

// heading is the first line of a recording.
type heading struct {
	metav1.TypeMeta `json:",inline"`
	// What is the set of Jobs in words.
	What string `json:"what,omitempty"`
}

// entry is a Snapshot in a recording.
type entry struct {
	Snapshot
	// Same are the parts that are those of the line before: jobs, job, pod, log. They are
	// not written again.
	Same []string `json:"same,omitempty"`
}

// The names of parts.
const (
	partJobs = "jobs"
	partJob  = "job"
	partPod  = "pod"
	partLog  = "log"
)

// Recorder is a Source that writes down what another one shows.
type Recorder struct {
	Source
	out  *json.Encoder
	what string
	last *Snapshot

	mu     sync.Mutex
	wanted *Focus // nil until somebody looked
}

// NewRecorder writes what source returns to out, as lines of JSON. what is the set of Jobs
// in words.
func NewRecorder(source Source, out io.Writer, what string) *Recorder {
	return &Recorder{Source: source, out: json.NewEncoder(out), what: what}
}

// Look tells the other Source, and the recording.
func (r *Recorder) Look(f Focus) {
	r.mu.Lock()
	r.wanted = &f
	r.mu.Unlock()
	r.Source.Look(f)
}

// Next returns what the other Source does, once it is written. A recording that cannot be
// written any more is an error: it would end in silence.
func (r *Recorder) Next(ctx context.Context, seen uint64) (*Snapshot, error) {
	s, err := r.Source.Next(ctx, seen)
	if err != nil {
		return nil, err
	}
	if err := r.write(s); err != nil {
		return nil, fmt.Errorf("writing the recording: %w", err)
	}
	return s, nil
}

func (r *Recorder) write(s *Snapshot) error {
	if r.last == nil {
		h := heading{TypeMeta: metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: KindRecording}, What: r.what}
		if err := r.out.Encode(h); err != nil {
			return err
		}
		r.last = &Snapshot{}
	}
	e := entry{Snapshot: *s}
	r.mu.Lock()
	if r.wanted != nil && !r.wanted.Equal(s.Focus) {
		e.Wanted = r.wanted
	}
	r.mu.Unlock()
	if s.Jobs != nil && s.Jobs == r.last.Jobs {
		e.Jobs, e.Same = nil, append(e.Same, partJobs)
	}
	if s.Job != nil && r.last.Job != nil && *s.Job == *r.last.Job {
		e.Job, e.Same = nil, append(e.Same, partJob)
	}
	if s.Pod != nil && s.Pod == r.last.Pod {
		e.Pod, e.Same = nil, append(e.Same, partPod)
	}
	if s.Log != nil && s.Log == r.last.Log {
		e.Log, e.Same = nil, append(e.Same, partLog)
	}
	r.last = s
	return r.out.Encode(e)
}

// Write writes a single Snapshot as a JSON object of kind WatchSnapshot.
func Write(out io.Writer, s *Snapshot) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		metav1.TypeMeta `json:",inline"`
		*Snapshot
	}{metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: KindSnapshot}, s})
}

// Clock is what a Player needs of time.
type Clock interface {
	Now() time.Time
	// Wait returns after so long, or with the context's error.
	Wait(ctx context.Context, d time.Duration) error
}

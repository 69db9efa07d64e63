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

// Look passes the Focus to the other Source, and to the recording.
func (r *Recorder) Look(f Focus) {
	r.mu.Lock()
	r.wanted = &f
	r.mu.Unlock()
	r.Source.Look(f)
}

// Next returns what the other Source does, once it is written. A recording that cannot be
// written anymore is an error: it would end in silence.
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
	e := entry{Snapshot: *s, Same: s.same(r.last)}
	for _, part := range e.Same {
		e.drop(part)
	}
	r.mu.Lock()
	if r.wanted != nil && !r.wanted.Equal(s.Focus) {
		e.Wanted = r.wanted
	}
	r.mu.Unlock()
	r.last = s
	return r.out.Encode(e)
}

// same are the parts that are there, and as in another Snapshot.
func (s *Snapshot) same(last *Snapshot) []string {
	var same []string
	for _, part := range []struct {
		name string
		same bool
	}{
		{partJobs, s.Jobs != nil && s.Jobs == last.Jobs},
		{partJob, s.Job != nil && last.Job != nil && *s.Job == *last.Job},
		{partPod, s.Pod != nil && s.Pod == last.Pod},
		{partLog, s.Log != nil && s.Log == last.Log},
	} {
		if part.same {
			same = append(same, part.name)
		}
	}
	return same
}

// drop takes a part out.
func (s *Snapshot) drop(part string) { s.take(part, &Snapshot{}) }

// take is the part as another Snapshot has it.
func (s *Snapshot) take(part string, of *Snapshot) {
	switch part {
	case partJobs:
		s.Jobs = of.Jobs
	case partJob:
		s.Job = of.Job
	case partPod:
		s.Pod = of.Pod
	case partLog:
		s.Log = of.Log
	}
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

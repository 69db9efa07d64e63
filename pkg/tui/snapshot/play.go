package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/jsonlimit"
)

// Limits for reading a recording: the bytes of a line, and the memory of its Snapshot. A Recorder writes no larger lines.
const (
	maxLine   = 32 << 20
	maxMemory = 64 << 20
)

// Player is a Source that plays a recording at a given speed.
type Player struct {
	in    *jsonlimit.Decoder
	clock Clock
	speed float64
	what  string
	// left is how many bytes of memory the next line may still use.
	left int64
	// next is read ahead, nil at the end; line is its line number.
	next *Snapshot
	last *Snapshot
	line int
	// bad is the error of reading ahead.
	bad error

	mu sync.Mutex
	// from is the recorded time that corresponds to started; until is the time of the last Snapshot so far.
	from, until time.Time
	started     time.Time
}

// NewPlayer reads the head of a recording. speed is a factor relative to the recorded speed; 0 does not wait.
func NewPlayer(in io.Reader, clock Clock, speed float64) (*Player, error) {
	p := &Player{clock: clock, speed: speed, last: &Snapshot{}, line: 1, left: maxMemory}
	p.in = jsonlimit.NewDecoder(in, maxLine, &p.left)
	var h heading
	switch err := p.in.Decode(&h); {
	case err != nil:
		return nil, fmt.Errorf("this is no recording of watch --record: %w", err)
	case h.Kind != KindRecording:
		return nil, fmt.Errorf("this is no recording of watch --record: its kind is %q, not %s", h.Kind, KindRecording)
	case h.APIVersion != explain.APIVersion:
		return nil, fmt.Errorf("the recording is of version %q, and only %s can be played", h.APIVersion, explain.APIVersion)
	}
	p.what = h.What
	if err := p.read(); err != nil {
		return nil, err
	}
	if p.next == nil {
		return nil, errors.New("the recording is empty")
	}
	p.from, p.until, p.started = p.next.Time, p.next.Time, clock.Now()
	return p, nil
}

// What returns the description of the recorded set of Jobs.
func (p *Player) What() string { return p.what }

// First returns the Focus at the start of the recording.
func (p *Player) First() Focus { return p.next.Looked() }

// Look does nothing: a recording shows the recorded Focus.
func (p *Player) Look(Focus) {}

// Now returns the time in the recording, which stops at its end.
func (p *Player) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.speed == 0 {
		return p.until
	}
	// In floats, because a fast recording may exceed the longest Duration.
	played := float64(p.clock.Now().Sub(p.started)) * p.speed
	if played >= float64(p.until.Sub(p.from)) {
		return p.until
	}
	return p.from.Add(time.Duration(played))
}

// Next waits until it is time for the next Snapshot. It returns all Snapshots, and ignores seen.
func (p *Player) Next(ctx context.Context, _ uint64) (*Snapshot, error) {
	s := p.next
	switch {
	case p.bad != nil:
		return nil, p.bad
	case s == nil:
		return nil, io.EOF
	}
	p.mu.Lock()
	if s.Time.After(p.until) {
		p.until = s.Time
	}
	var wait time.Duration
	if p.speed > 0 {
		wait = time.Duration(float64(s.Time.Sub(p.from))/p.speed) - p.clock.Now().Sub(p.started)
	}
	p.mu.Unlock()
	if wait > 0 {
		if err := p.clock.Wait(ctx, wait); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.bad = p.read()
	return s, nil
}

// read reads the next line. An incomplete line is the end: the recording process was killed.
func (p *Player) read() error {
	p.line++
	p.left = maxMemory
	var e entry
	switch err := p.in.Decode(&e); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		p.next = nil
		return nil
	case err != nil:
		return fmt.Errorf("line %d of the recording: %w", p.line, err)
	}
	s := e.Snapshot
	s.distrust()
	for _, part := range parts {
		if slices.Contains(e.Same, part.name) {
			part.take(&s, p.last)
		}
	}
	p.next, p.last = &s, &s
	return nil
}

// distrust generates the commands of Gaps anew, and drops Advice, which cannot be generated from a recording: the author of
// the file may have written any command, also into the text of advice, and users run the commands that we show.
func (s *Snapshot) distrust() {
	if s.Jobs != nil {
		input.MakeCommands(s.Jobs.Gaps)
	}
	if s.Pod != nil {
		input.MakeCommands(s.Pod.Gaps)
	}
	if s.Job == nil || s.Job.Report == nil {
		return
	}
	input.MakeCommands(s.Job.Report.Gaps)
	s.Job.Report.Advice = nil
}

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/jsonlimit"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Limits of what is read of a recording: the bytes of a line, and of the memory that its Snapshot takes. A Recorder writes
// no other lines.
const (
	maxLine   = 32 << 20
	maxMemory = 64 << 20
)

// Player is a Source that plays a recording in its own time.
type Player struct {
	in    *jsonlimit.Decoder
	clock Clock
	speed float64
	what  string
	// left is how much more memory the next line may take.
	left int64
	// next is read ahead, nil at the end; line is its number.
	next *Snapshot
	last *Snapshot
	line int
	// bad is what reading ahead met.
	bad error

	mu sync.Mutex
	// from is the recorded time at started; until is how far the recording goes.
	from, until time.Time
	started     time.Time
}

// NewPlayer reads the head of a recording. speed is how many times faster than recorded it
// is played; 0 does not wait.
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

// What is the recorded set of Jobs in words.
func (p *Player) What() string { return p.what }

// First is what was looked at in the beginning.
func (p *Player) First() Focus { return p.next.Looked() }

// Look does nothing: a recording shows what was looked at then.
func (p *Player) Look(Focus) {}

// Now is the time of the recording, which stops at its end.
func (p *Player) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.speed == 0 {
		return p.until
	}
	// In floats, as a fast recording may be beyond the longest Duration.
	played := float64(p.clock.Now().Sub(p.started)) * p.speed
	if played >= float64(p.until.Sub(p.from)) {
		return p.until
	}
	return p.from.Add(time.Duration(played))
}

// Next waits until it is time for the next Snapshot. All are returned, whatever was seen.
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

// read reads ahead. A line that broke off is the end: the recording was killed.
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
	for _, part := range e.Same {
		s.take(part, p.last)
	}
	p.next, p.last = &s, &s
	return nil
}

// distrust makes the commands of Gaps, and drops Advice, which cannot be made from a recording: whoever wrote the file may
// have written any command, also into the text of advice, and people type what we show as advice.
func (s *Snapshot) distrust() {
	if s.Jobs != nil {
		explain.MakeCommands(s.Jobs.Gaps)
	}
	if s.Pod != nil {
		explain.MakeCommands(s.Pod.Gaps)
	}
	if s.Job == nil || s.Job.Report == nil {
		return
	}
	explain.MakeCommands(s.Job.Report.Gaps)
	s.Job.Report.Advice = nil
}

package indexmap

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// State is what one index does.
type State uint8

// The states, those that matter most last: the last one in a cell is what the cell shows.
const (
	Succeeded State = iota
	Pending
	Ready
	Active
	// Unknown has not ended, and what it does could not be read.
	Unknown
	// OutOfRange has a pod though it is beyond the completions.
	OutOfRange
	Terminating
	// Retrying has failed, and waits for its next pod without a back-off of its own.
	Retrying
	BackOff
	Failed
	// Chosen is to run again: see Map.Choose.
	Chosen
	// States is how many there are.
	States
)

// The Marks of cells whose indexes are in several states.
const (
	// Half is that of a cell of which a part has succeeded, and the rest not yet begun.
	Half = Mark(States) + iota
	// SomeFailed is that of a cell of which a part has failed.
	SomeFailed
	// SomeChosen is that of a cell of which a part is chosen.
	SomeChosen
	// Marks is how many there are.
	Marks
)

// Mark is what a cell shows: a State, Half or SomeFailed.
type Mark uint8

// Set is a set of States.
type Set uint16

// SetOf is the set of the given states.
func SetOf(states ...State) Set {
	var s Set
	for _, state := range states {
		s |= 1 << state
	}
	return s
}

// Has reports whether the state is in the set.
func (s Set) Has(state State) bool { return s&(1<<state) != 0 }

// Attention are the states that need attention.
func Attention() Set { return SetOf(Failed, BackOff, Retrying, Terminating, OutOfRange, Unknown) }

// Begun are those that are neither succeeded nor pending.
func Begun() Set { return Attention() | SetOf(Active, Ready) }

// Word is the name of the state: "in back-off".
func (s State) Word() string {
	return [...]string{
		section.IndexCompleted, section.IndexNotStarted, "ready", "not ready", section.IndexUnknown, "out of range", section.IndexTerminating,
		section.IndexRetrying, section.IndexBackingOff, section.IndexFailed, "to run", "",
	}[min(s, States)]
}

// Glyph is the mark as one character of one column.
func (m Mark) Glyph(ascii bool) string {
	m = min(m, Marks-1)
	if ascii {
		return [...]string{"#", ".", "O", "o", "?", "@", "~", "r", "b", "X", "*", ":", "x", "%"}[m]
	}
	return [...]string{"■", "·", "●", "○", "?", "+", "◌", "↺", "↻", "✗", "◆", "▪", "×", "◇"}[m]
}

// Style is the color of a cell, beside its glyph.
func (m Mark) Style() layout.Style {
	switch m {
	case Half, Mark(Succeeded):
		return layout.Good
	case Mark(Active), Mark(Ready):
		return layout.Info
	case Mark(Unknown), Mark(BackOff), Mark(Retrying):
		return layout.Warn
	case Mark(OutOfRange), Mark(Terminating):
		return layout.Special
	case Mark(Failed):
		return layout.Bad | layout.Bold
	case SomeFailed:
		return layout.Bad
	case Mark(Chosen), SomeChosen:
		return layout.Accent | layout.Bold
	}
	return layout.Muted
}

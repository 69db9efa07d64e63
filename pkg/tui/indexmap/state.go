package indexmap

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// State is the state of an index.
type State uint8

// The states in order of increasing importance: a cell shows the last one that occurs in it.
const (
	Succeeded State = iota
	Pending
	Ready
	Active
	// Unknown has not ended, and its state could not be read.
	Unknown
	// OutOfRange has a pod although the index is not below the completions.
	OutOfRange
	Terminating
	// Retrying has failed, and waits for its next pod, not in a back-off of its own.
	Retrying
	BackOff
	Failed
	// Chosen will run again, see Map.Choose.
	Chosen
	// States is the number of states.
	States
)

// The additional Marks for cells with indexes in several states.
const (
	// Half marks a cell of which a part has succeeded and the rest has not started.
	Half = Mark(States) + iota
	// SomeFailed marks a cell of which a part has failed.
	SomeFailed
	// SomeChosen marks a cell of which a part is chosen.
	SomeChosen
	// Marks is the number of marks.
	Marks
)

// Mark is the look of a cell: a State, Half, SomeFailed or SomeChosen.
type Mark uint8

// Set is a set of States.
type Set uint16

// SetOf returns the set of the given states.
func SetOf(states ...State) Set {
	var s Set
	for _, state := range states {
		s |= 1 << state
	}
	return s
}

// Has reports whether the state is in the set.
func (s Set) Has(state State) bool { return s&(1<<state) != 0 }

// Attention returns the set of states that need attention.
func Attention() Set { return SetOf(Failed, BackOff, Retrying, Terminating, OutOfRange, Unknown) }

// Word returns the name of the state: "in back-off".
func (s State) Word() string {
	return [...]string{
		section.IndexCompleted, section.IndexNotStarted, "ready", "not ready", section.IndexUnknown, "out of range", section.IndexTerminating,
		section.IndexRetrying, section.IndexBackingOff, section.IndexFailed, "to run", "",
	}[min(s, States)]
}

// Glyph returns the mark as one character of one column.
func (m Mark) Glyph(ascii bool) string {
	m = min(m, Marks-1)
	if ascii {
		return [...]string{"#", ".", "O", "o", "?", "@", "~", "r", "b", "X", "*", ":", "x", "%"}[m]
	}
	return [...]string{"■", "·", "●", "○", "?", "+", "◌", "↺", "↻", "✗", "◆", "▪", "×", "◇"}[m]
}

// Style returns the color of a mark.
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

package section

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// IndexState is one state of indexes, with the indexes in that state. All outputs use its Word.
type IndexState struct {
	Word  string
	List  string
	Count int32
	Style layout.Style
}

// The words for the states of indexes.
const (
	IndexCompleted       = "completed"
	IndexFailed          = "failed"
	IndexActive          = "active"
	IndexTerminating     = "terminating"
	IndexBackingOff      = "in back-off"
	IndexRetrying        = "waiting to retry"
	IndexNotStarted      = "not started"
	IndexWillNotComplete = "will not complete"
	IndexUnknown         = "unknown"
)

// IndexStates returns all states, starting with the indexes that have ended.
func IndexStates(x *explain.Indexes) []IndexState {
	return []IndexState{
		{IndexCompleted, x.Completed, x.CompletedCount, layout.Good},
		{IndexFailed, x.Failed, x.FailedCount, layout.Bad},
		{IndexActive, x.Active, x.ActiveCount, layout.Plain},
		{IndexTerminating, x.Terminating, x.TerminatingCount, layout.Plain},
		{IndexBackingOff, x.BackingOff, x.BackingOffCount, layout.Warn},
		{IndexRetrying, x.Retrying, x.RetryingCount, layout.Warn},
		{IndexNotStarted, x.NotStarted, x.NotStartedCount, layout.Plain},
		{IndexWillNotComplete, x.WillNotComplete, x.WillNotCompleteCount, layout.Plain},
		{IndexUnknown, x.Unknown, x.UnknownCount, layout.Plain},
	}
}

// IndexWord returns the word for the state of an index.
func IndexWord(x *explain.Indexes, info *explain.IndexInfo) string {
	switch {
	case info.State == explain.IndexBackingOff:
		return IndexBackingOff
	case info.State != explain.IndexPending:
		return strings.ToLower(info.State)
	case x.WillNotCompleteCount > 0:
		return IndexWillNotComplete
	case info.Failures+info.Ignored > 0:
		return IndexRetrying
	}
	return IndexNotStarted
}

// FailedIndexes draws a table of indexes with failures; state draws the state of one index.
func FailedIndexes(f *Frame, infos []explain.IndexInfo, state func(*explain.IndexInfo) layout.Line) []layout.Line {
	type index = explain.IndexInfo
	return f.table(layout.TableOf([]layout.Column[index]{
		{Header: "INDEX", Right: true, Text: func(x *index) string { return fmt.Sprint(x.Index) }},
		{Header: "STATE", Cell: state},
		{Header: "ATTEMPT", Text: Attempt},
		{Header: "IGNORED", Right: true, Drop: 3, Text: func(x *index) string { return Number(x.Ignored) }},
		{Header: "NEXT POD", Drop: 1, Style: layout.Warn, Text: func(x *index) string {
			if x.Until.IsZero() {
				return ""
			}
			return f.Countdown(x.Until.Time)
		}},
		{Header: "POD", Min: 16, Middle: true, Drop: 2, Text: func(x *index) string { return x.Pod }},
		{Header: "LAST FAILURE", Wrap: f.Printed, Min: 24, Text: func(x *index) string { return x.Cause }},
	}, infos))
}

// Attempt returns "2 of 4", or "" if it is unknown.
func Attempt(info *explain.IndexInfo) string {
	if info.Attempt == 0 || info.Attempts == 0 {
		return Number(info.Attempt)
	}
	return wording.Of(info.Attempt, info.Attempts)
}

// Number formats a number, and returns "" for 0.
func Number(n int32) string {
	if n == 0 {
		return ""
	}
	return wording.Thousands(n)
}

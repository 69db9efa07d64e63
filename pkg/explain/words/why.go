package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// WhyWidth is the width of the column WHY on a terminal of usual width, and MostWhy its maximum width, in characters.
const (
	WhyWidth = 30
	MostWhy  = 160
)

// Why returns the column WHY of a list, in at most width characters: the problem that blocks the Job, the causes of its pods'
// failures, the reason why pods cannot be created, or else the limit that it exceeded; "" if nothing is wrong. If now is zero, it omits values that depend on the time.
func Why(o *explain.Outline, now time.Time, width int) string {
	switch {
	case o.Stalled != nil:
		return wording.Cut(cmp.Or(o.Stalled.Brief, problems[o.Stalled.Kind].column, o.Stalled.Reason), width)
	case o.EndedBy == explain.EndedByDeadline:
		return deadlineExceeded
	case o.Why != nil && len(o.Why.Causes) > 0:
		return WhyFailed(o.Why, now, width)
	case o.Refused != nil:
		return wording.Cut(o.Refused.Brief, width)
	case o.Neglected:
		return "no controller"
	case o.Outcome.Fails() && o.RuleName != "":
		return wording.Cut("rule "+o.RuleName, width)
	case o.Outcome.Fails() && o.Rule != nil:
		return fmt.Sprintf("rule %d", *o.Rule)
	case o.FailedIndexCount > 0:
		return wording.Plural(o.FailedIndexCount, "index failed", "indexes failed")
	case o.Outcome.Fails(): // Its failed pods are unknown.
		return wording.Cut(cmp.Or(ends[o.EndedBy].column, o.Reason), width)
	}
	return ""
}

// WhyFailed returns the most frequent cause in at most width characters, with the next retry, the other cause, or the
// message if they fit. If now is zero, it omits the next retry.
func WhyFailed(w *explain.Why, now time.Time, width int) string {
	first := &w.Causes[0]
	text := wording.Cut(causeBriefly(first)+timesText(first, w.Partial), width)
	room := width - utf8.RuneCountInString(text)
	if w.RetryAt != nil && !now.IsZero() {
		if retry := ", retry in " + wording.Duration(w.RetryAt.Sub(now)); len(retry) <= room {
			return text + retry
		}
	}
	if len(w.Causes) > 1 {
		other := ", " + causeBriefly(&w.Causes[1]) + timesText(&w.Causes[1], w.Partial)
		if utf8.RuneCountInString(other) <= room {
			return text + other
		}
		return text
	}
	message := meaning.LastLine(strings.Split(first.Message, "\n"))
	const least = 8 // of a message, to be useful
	if first.ExitCode == nil || first.Ending != nil || first.Error != nil || first.Hidden != nil || message == "" || room < least {
		return text
	}
	return text + ": " + wording.Shorten(message, room-len(": "))
}

// timesText returns " ×3", or "" for a single or an unknown number.
func timesText(c *explain.Cause, partial bool) string {
	if c.Count < 2 || partial {
		return ""
	}
	return " ×" + wording.Thousands(c.Count)
}

// CauseBriefly returns a cause in two or three words, with the number of pods: "exit 3 ×5".
func CauseBriefly(c *explain.Cause) string { return causeBriefly(c) + timesText(c, false) }

// causeBriefly returns a cause in two or three words, after the rule that matched.
func causeBriefly(c *explain.Cause) string {
	brief := failureBriefly(c)
	switch {
	case c.RuleName != "":
		return "rule " + c.RuleName + ": " + brief
	case c.Rule != nil:
		return fmt.Sprintf("rule %d: %s", *c.Rule, brief)
	}
	return brief
}

func failureBriefly(c *explain.Cause) string {
	switch {
	case c.Ending != nil:
		return c.Ending.Brief()
	case c.Hidden != nil:
		return fmt.Sprintf("hides exit %d", c.Hidden.ExitCode)
	case c.Error != nil:
		return errorBriefly(c)
	case c.Container != "" && c.Reason != "":
		return c.Reason
	case c.ExitCode != nil:
		return fmt.Sprintf("exit %d", *c.ExitCode)
	case c.Reason != "":
		return c.Reason
	case c.Condition != "":
		return c.Condition
	case c.Failure != nil && c.Failure.DeletedRunning:
		return "pod deleted"
	}
	return c.Text
}

// CauseNames returns the names by which a user chooses a cause, case aside; the first is the one to offer: "OOMKilled",
// "exit code 3".
func CauseNames(c *explain.Cause) []string {
	var names []string
	switch {
	case c.Ending != nil:
		names = append(names, c.Ending.Brief())
	case c.Error != nil:
		names = append(names, c.Error.Brief())
	case c.ExitCode == nil || c.Reason != "":
		names = append(names, failureBriefly(c))
	}
	if c.ExitCode != nil {
		names = append(names, fmt.Sprintf("exit code %d", *c.ExitCode), fmt.Sprintf("exit %d", *c.ExitCode))
	}
	return slices.DeleteFunc(append(names, c.Reason, c.RuleName), func(name string) bool { return name == "" })
}

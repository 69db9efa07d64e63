package suite

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Case is one promise of the Jobs API, with a check that a controller keeps it.
type Case struct {
	// Name is unique, in kebab case. The Jobs of the case are named after it.
	Name string
	// Title is the promise, in a sentence without a full stop.
	Title string
	// Source is the origin of the promise: a KEP and its section, or a field of the API.
	Source string
	// Requirements are ids of docs/internals/requirements.md.
	Requirements []string
	// Slow cases wait for a back-off or a deadline.
	Slow bool
	// Run checks the promise. History cases have Check instead.
	Run func(*T)
	// Check examines everything that was recorded, after all other cases are done.
	Check func(*Evidence)
}

// Outcome is the outcome of a case.
type Outcome string

// The outcomes.
const (
	Pass          Outcome = "pass"
	Fail          Outcome = "fail"
	NotApplicable Outcome = "not applicable"
)

// Problem is a broken promise.
type Problem struct {
	Expected string `json:"expected"`
	Seen     string `json:"seen"`
}

// Result is the result of a case.
type Result struct {
	Case    Case
	Outcome Outcome
	// Why is the reason that a case is not applicable.
	Why string
	// Observed are facts, in the order in which they were observed.
	Observed []string
	Problems []Problem
	Duration time.Duration
}

// log collects the findings of a running case.
type log struct {
	observed []string
	problems []Problem
	// why is the reason that the case is not applicable.
	why string
}

// Observe records a fact.
func (l *log) Observe(format string, args ...any) {
	l.observed = append(l.observed, fmt.Sprintf(format, args...))
}

// Errorf records a broken promise; the case continues.
func (l *log) Errorf(expected, seen string, args ...any) {
	l.problems = append(l.problems, Problem{Expected: expected, Seen: fmt.Sprintf(seen, args...)})
}

// result returns the result of the case.
func (l *log) result(c Case, took time.Duration) Result {
	r := Result{Case: c, Outcome: Pass, Observed: l.observed, Problems: l.problems, Duration: took}
	switch {
	case len(l.problems) > 0:
		r.Outcome = Fail
	case l.why != "":
		r.Outcome, r.Why = NotApplicable, l.why
	}
	return r
}

// observer is a T or an Evidence.
type observer interface {
	Observe(format string, args ...any)
	Errorf(expected, seen string, args ...any)
}

// Equal checks that a value is as expected and records it.
func Equal[V comparable](o observer, what string, want, got V) {
	if want == got {
		o.Observe("%s is %s", what, text(got))
		return
	}
	o.Errorf(fmt.Sprintf("%s is %s", what, text(want)), "%s is %s", what, text(got))
}

func text(value any) string {
	if s, ok := value.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(value)
}

// Sorted returns the results by name, history cases last.
func Sorted(results []Result) []Result {
	out := slices.Clone(results)
	slices.SortStableFunc(out, func(a, b Result) int {
		if (a.Case.Check != nil) != (b.Case.Check != nil) {
			return map[bool]int{true: 1, false: -1}[a.Case.Check != nil]
		}
		return strings.Compare(a.Case.Name, b.Case.Name)
	})
	return out
}

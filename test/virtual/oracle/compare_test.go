package oracle

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/differences"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// tolerance is the largest difference between the times of both sides: each reaction may take a second, and reactions
// follow each other. The shortest back-off is ten seconds.
const tolerance = 6 * time.Second

// same reports whether two outcomes are equal apart from reaction times.
func same(a, b model.Outcome) bool {
	near := func(a, b time.Duration) bool {
		return a == b || a != model.Never && b != model.Never && (a-b).Abs() <= tolerance
	}
	if !near(a.Start, b.Start) || !near(a.End, b.End) || !near(a.Finished, b.Finished) || len(a.Pods) != len(b.Pods) {
		return false
	}
	for i := range a.Pods {
		if !near(a.Pods[i].At, b.Pods[i].At) {
			return false
		}
	}
	return reflect.DeepEqual(timeless(a), timeless(b))
}

func timeless(o model.Outcome) model.Outcome {
	o.Start, o.End, o.Finished = 0, 0, 0
	o.Pods = slices.Clone(o.Pods)
	for i := range o.Pods {
		o.Pods[i].At = 0
	}
	return o
}

// paces is the number of paces tried before the outcome of a case counts as wrong.
const paces = 400

// finding describes a case with a correct outcome.
type finding struct {
	// differences are the documented differences that are necessary for agreement.
	differences []string
	// pace is the number of the model's pace under which both sides agree.
	pace int
	// ends describes how the Job ended.
	ends []string
}

// endsOf describes how a Job ended.
func endsOf(o model.Outcome) []string {
	if o.Gone {
		return []string{"gone"}
	}
	var out []string
	for _, c := range o.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	if out == nil {
		out = []string{"open"}
	}
	return out
}

var errUnnamed = errors.New("a difference without a name")

// judge plays a case on both sides.
func judge(c *model.Case, seed uint64) (finding, error) {
	got, err := ours(c, seed)
	if err != nil {
		return finding{}, err
	}
	pace, err := agrees(c, seed, got, differences.Documented(), paces)
	switch {
	case err != nil:
		return finding{}, err
	case pace < 0:
		return finding{}, errUnnamed
	}
	f := finding{pace: pace, ends: endsOf(got)}
	if builtIn, err := agrees(c, seed, got, model.Rules{}, pace+1); err != nil || builtIn >= 0 {
		return f, err
	}
	for _, d := range differences.All() {
		if d.Rule == nil {
			continue
		}
		rules := differences.Documented()
		*d.Rule(&rules) = false
		without, err := agrees(c, seed, got, rules, paces)
		if err != nil {
			return f, err
		}
		if without < 0 {
			f.differences = append(f.differences, d.Name)
		}
	}
	return f, nil
}

// agrees returns the first of a number of paces under which the model has the same outcome, or -1.
func agrees(c *model.Case, seed uint64, got model.Outcome, rules model.Rules, paces int) (int, error) {
	for n := range paces {
		want, err := model.Run(c, rules, model.NewPace(seed, n))
		if err != nil {
			return -1, fmt.Errorf("the model: %w", err)
		}
		if same(got, want) {
			return n, nil
		}
	}
	return -1, nil
}

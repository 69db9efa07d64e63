package run

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/internal/junit"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// maxCases is the maximum number of indexes for which each index has its own test case, and the maximum number of
// test cases per result in a larger Job: the API server accepts 2^31 indexes.
const maxCases = 10_000

// ofIndexes returns a test case for each index. In a Job with more than maxCases indexes, neighbors without pods that
// have the same result share a test case.
func (c *cases) ofIndexes(completions int32) []junit.Case {
	if completions <= maxCases {
		out := make([]junit.Case, 0, completions)
		for index := range completions {
			out = append(out, c.of(index))
		}
		return out
	}
	var withPods []int32
	var sets []indexset.Set
	for _, a := range c.attempts {
		withPods = slices.AppendSeq(withPods, maps.Keys(a.pods))
		sets = append(sets, a.runs, a.completed, a.failed)
	}
	var results [4]casesOfResult
	for alike := range indexset.Pieces(completions, indexset.Of(withPods...), sets...) {
		one := c.of(alike.First)
		results[resultOf(&one)].add(alike, one)
	}
	return inOrder(results[:])
}

// resultOf numbers the results.
func resultOf(c *junit.Case) int {
	switch {
	case c.Failure != nil:
		return 0
	case c.Error != nil:
		return 1
	case c.Skipped != nil:
		return 2
	}
	return 3
}

// casesOfResult holds the first maxCases test cases with one result, and the number of indexes without a test case of
// their own.
type casesOfResult struct {
	list []caseOfIndexes
	more int
}

type caseOfIndexes struct {
	first int32
	junit.Case
}

func (r *casesOfResult) add(indexes indexset.Interval, c junit.Case) {
	if len(r.list) == maxCases {
		r.more += indexes.Len()
		return
	}
	if indexes.Len() > 1 {
		c.Name = fmt.Sprintf("indexes %d-%d", indexes.First, indexes.Last)
	}
	r.list = append(r.list, caseOfIndexes{indexes.First, c})
}

// rest returns the test case of the indexes without one of their own.
func (r *casesOfResult) rest() junit.Case {
	like := &r.list[0]
	c := junit.Case{Class: like.Class, Name: wording.Plural(r.more, "more index", "more indexes"), Skipped: like.Skipped, Error: like.Error}
	if like.Failure != nil {
		c.Failure = &junit.Problem{Type: "Failed", Message: "failed"}
	}
	return c
}

// inOrder returns the test cases of all results by index, followed by the test cases of the rest.
func inOrder(results []casesOfResult) []junit.Case {
	var all []caseOfIndexes
	var rest []junit.Case
	for i := range results {
		all = append(all, results[i].list...)
		if results[i].more > 0 {
			rest = append(rest, results[i].rest())
		}
	}
	slices.SortFunc(all, func(a, b caseOfIndexes) int { return cmp.Compare(a.first, b.first) })
	out := make([]junit.Case, 0, len(all)+len(rest))
	for i := range all {
		out = append(out, all[i].Case)
	}
	return append(out, rest...)
}

package successpolicy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

type rule = batchv1.SuccessPolicyRule

func listed(indexes string) rule { return rule{SucceededIndexes: &indexes} }
func counted(count int32) rule   { return rule{SucceededCount: &count} }
func both(indexes string, count int32) rule {
	return rule{SucceededIndexes: &indexes, SucceededCount: &count}
}

// inert is the progress of a rule that can never be met.
var inert = Progress{Inert: true}

// evaluation is a policy, the succeeded indexes, and the result.
type evaluation struct {
	rules     []rule
	succeeded string
	rule      int
	progress  []Progress
}

func check(t *testing.T, table map[string]evaluation) {
	t.Helper()
	for name, e := range table {
		succeeded, err := indexset.Parse(e.succeeded)
		assert.NoError(t, err)
		got, progress := Evaluate(&batchv1.SuccessPolicy{Rules: e.rules}, succeeded, indexset.Set{}, math.MaxInt32)
		assert.Equal(t, slices.IndexFunc(progress, func(p Progress) bool { return p.Met }), got, name)
		for i := range progress {
			progress[i].Met = false // The table and NoRule determine it.
			if progress[i].OutOfReach {
				t.Errorf("%s: rule %d is out of reach, and no index has failed", name, i)
			}
		}
		if got != e.rule || !slices.Equal(progress, e.progress) {
			t.Errorf("%s: got rule %d, %v; want %d, %v", name, got, progress, e.rule, e.progress)
		}
	}
}

// SUC-03: in order, the first rule wins; the other rules still report their progress.
func TestFirstRuleWins(t *testing.T) {
	check(t, map[string]evaluation{
		"both are met":   {[]rule{counted(1), listed("0")}, "0", 0, []Progress{{Have: 1, Need: 1}, {Have: 1, Need: 1}}},
		"second is met":  {[]rule{counted(2), listed("0")}, "0", 1, []Progress{{Have: 1, Need: 2}, {Have: 1, Need: 1}}},
		"third is short": {[]rule{counted(9), listed("0"), listed("0-3")}, "0,2", 1, []Progress{{Have: 2, Need: 9}, {Have: 1, Need: 1}, {Have: 2, Need: 4}}},
		"none is met":    {[]rule{counted(2), listed("1")}, "0", NoRule, []Progress{{Have: 1, Need: 2}, {Have: 0, Need: 1}}},
		"no rules":       {nil, "0", NoRule, nil},
	})
	if got, progress := Evaluate(nil, indexset.Of(0), indexset.Set{}, 1); got != NoRule || progress != nil {
		t.Errorf("nil policy: got %d, %v", got, progress)
	}
	assert.Equal(t, Message(3), "Matched rules at index 3")
}

// SUC-04: every listed index must have succeeded; other indexes do not matter.
func TestAllListedIndexesMustSucceed(t *testing.T) {
	check(t, map[string]evaluation{
		"1 is missing":       {[]rule{listed("1-3")}, "0,2-4", NoRule, []Progress{{Have: 2, Need: 3}}},
		"all of them":        {[]rule{listed("1-3")}, "1-3", 0, []Progress{{Have: 3, Need: 3}}},
		"and others":         {[]rule{listed("1-3")}, "0-9", 0, []Progress{{Have: 3, Need: 3}}},
		"one run, many":      {[]rule{listed("1,3,5-6")}, "0-9", 0, []Progress{{Have: 4, Need: 4}}},
		"not joined, D-05":   {[]rule{listed("1,2,3")}, "1-3", 0, []Progress{{Have: 3, Need: 3}}},
		"scattered":          {[]rule{listed("0-9")}, "0,2,4,6,8", NoRule, []Progress{{Have: 5, Need: 10}}},
		"none of them":       {[]rule{listed("5-6")}, "0-4,7-9", NoRule, []Progress{{Have: 0, Need: 2}}},
		"more than any Job":  {[]rule{listed("0-2147483647")}, "0,1", NoRule, []Progress{{Have: 2, Need: 2147483647}}},
		"all that there are": {[]rule{listed("0-2147483647")}, "0-2147483646", 0, []Progress{{Have: 2147483647, Need: 2147483647}}},
	})
}

// SUC-05: the number of succeeded indexes, in any order.
func TestCountIsOfAnyIndexes(t *testing.T) {
	check(t, map[string]evaluation{
		"one short": {[]rule{counted(3)}, "0,9", NoRule, []Progress{{Have: 2, Need: 3}}},
		"just":      {[]rule{counted(3)}, "0,5,9", 0, []Progress{{Have: 3, Need: 3}}},
		"more":      {[]rule{counted(3)}, "0-9", 0, []Progress{{Have: 10, Need: 3}}},
	})
}

// SUC-06: the count is taken over the listed indexes.
func TestCountIsOfTheListedIndexes(t *testing.T) {
	check(t, map[string]evaluation{
		"5 is not listed":               {[]rule{both("1-4", 3)}, "1,3,5", NoRule, []Progress{{Have: 2, Need: 3}}},
		"4 is":                          {[]rule{both("1-4", 3)}, "1,3-5", 0, []Progress{{Have: 3, Need: 3}}},
		"all of them":                   {[]rule{both("1-4", 4)}, "1-4", 0, []Progress{{Have: 4, Need: 4}}},
		"no Job asks for more (SUC-02)": {[]rule{both("1-4", 5)}, "1-4", 0, []Progress{{Have: 4, Need: 4}}},
	})
}

// SUC-07, D-03, D-05: rules that are never met, and the meaning of 0.
func TestEmptyRulesAreNeverMet(t *testing.T) {
	check(t, map[string]evaluation{
		"nothing succeeded":          {[]rule{counted(0), both("1", 0), counted(1), listed("0")}, "", NoRule, []Progress{{Need: 1}, {}, {Need: 1}, {Need: 1}}},
		"0 is the first success":     {[]rule{counted(0)}, "7", 0, []Progress{{Have: 1, Need: 1}}},
		"0 of a list, one elsewhere": {[]rule{both("1-4", 0)}, "7", 0, []Progress{{Have: 0, Need: 0}}},
		"empty list":                 {[]rule{listed(""), counted(1)}, "0", 1, []Progress{inert, {Have: 1, Need: 1}}},
		"empty list with a count":    {[]rule{both("", 1), both("", 0)}, "0", NoRule, []Progress{inert, inert}},
		"unreadable":                 {[]rule{listed("a"), listed("0")}, "0", 1, []Progress{inert, {Have: 1, Need: 1}}},
		"unreadable with a count":    {[]rule{both("0,a", 1)}, "0", NoRule, []Progress{inert}},
		"unreadable at its very end": {[]rule{listed("0,1,")}, "0-9", NoRule, []Progress{inert}},
		"not increasing":             {[]rule{both("1,0", 1)}, "0,1", NoRule, []Progress{inert}},
		"overlapping":                {[]rule{both("0-3,3-4", 1)}, "0-9", NoRule, []Progress{inert}},
		"neither field":              {[]rule{{}, counted(1)}, "0", 1, []Progress{inert, {Have: 1, Need: 1}}},
	})
}

// A rule is out of reach once too few indexes can still succeed.
func TestOutOfReach(t *testing.T) {
	for name, c := range map[string]struct {
		rule              rule
		succeeded, failed string
		met, outOfReach   bool
	}{
		"all may succeed":               {rule: counted(10)},
		"one too many has failed":       {rule: counted(9), succeeded: "0", failed: "1,5", outOfReach: true},
		"just enough are left":          {rule: counted(8), succeeded: "0", failed: "1,5"},
		"met before":                    {rule: counted(1), succeeded: "0", failed: "1-9", met: true},
		"more than there are":           {rule: counted(11), outOfReach: true},
		"one of the list has failed":    {rule: listed("2-4"), failed: "3", outOfReach: true},
		"others have failed":            {rule: listed("2-4"), failed: "0,1,5-9"},
		"some of the list are enough":   {rule: both("2-4", 2), failed: "3"},
		"two of the list are too few":   {rule: both("2-4", 2), failed: "2,4", outOfReach: true},
		"the list is met":               {rule: both("2-4", 1), succeeded: "2", failed: "3,4", met: true},
		"beyond the completions":        {rule: listed("8-11"), outOfReach: true},
		"enough within the completions": {rule: both("8-11", 2)},
		"nothing is asked of the list":  {rule: both("2-4", 0), failed: "2-4"},
	} {
		succeeded, _ := indexset.Parse(c.succeeded)
		failed, _ := indexset.Parse(c.failed)
		_, progress := Evaluate(&batchv1.SuccessPolicy{Rules: []rule{c.rule}}, succeeded, failed, 10)
		if p := progress[0]; p.Met != c.met || p.OutOfReach != c.outOfReach {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// naive expands every index into a map.
func naive(rules []rule, succeeded, failed map[int]bool, completions int) (int, []Progress) {
	matched, progress := NoRule, []Progress(nil)
	for i, r := range rules {
		p := naiveCount(r, succeeded)
		if r.SucceededIndexes != nil {
			p = naiveList(r, succeeded)
		}
		p.Met = len(succeeded) > 0 && !p.Inert && p.Have >= p.Need
		if matched == NoRule && p.Met {
			matched = i
		}
		p.OutOfReach = !p.Met && !p.Inert && naiveOpen(r, failed, completions) < p.Need
		progress = append(progress, p)
	}
	return matched, progress
}

// naiveOpen counts the indexes of a rule that have not failed.
func naiveOpen(r rule, failed map[int]bool, completions int) (n int32) {
	for index := range completions {
		listed := r.SucceededIndexes == nil
		if !listed {
			want, _ := expand(*r.SucceededIndexes)
			listed = want[index]
		}
		if listed && !failed[index] {
			n++
		}
	}
	return n
}

func naiveCount(r rule, succeeded map[int]bool) Progress {
	switch {
	case r.SucceededCount == nil:
		return inert
	case *r.SucceededCount == 0:
		return Progress{Have: int32(len(succeeded)), Need: 1}
	}
	return Progress{Have: int32(len(succeeded)), Need: *r.SucceededCount}
}

func naiveList(r rule, succeeded map[int]bool) Progress {
	want, err := expand(*r.SucceededIndexes)
	if err != nil || len(want) == 0 {
		return inert
	}
	p := Progress{Need: int32(len(want))}
	for index := range want {
		if succeeded[index] {
			p.Have++
		}
	}
	if r.SucceededCount != nil && *r.SucceededCount < p.Need {
		p.Need = *r.SucceededCount
	}
	return p
}

// expand returns an index list as a set, in the simplest and slowest way.
func expand(text string) (map[int]bool, error) {
	out, last := map[int]bool{}, -1
	if text == "" {
		return out, nil
	}
	for _, fragment := range strings.Split(text, ",") {
		ends := strings.Split(fragment, "-")
		first, err := strconv.Atoi(ends[0])
		end, errEnd := strconv.Atoi(ends[len(ends)-1])
		if err != nil || errEnd != nil || len(ends) > 2 || first <= last || end < first {
			return nil, errors.New("unreadable")
		}
		for last = first - 1; last < end; {
			last++
			out[last] = true
		}
	}
	return out, nil
}

// drawList returns a random increasing list of intervals, some of them adjacent, sometimes damaged.
func drawList(t *rapid.T, label string) string {
	var parts []string
	next := 0
	for range rapid.IntRange(0, 8).Draw(t, label+" length") {
		next += rapid.IntRange(0, 4).Draw(t, label+" gap")
		first := next
		next += rapid.IntRange(1, 5).Draw(t, label+" run")
		if next == first+1 {
			parts = append(parts, fmt.Sprint(first))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", first, next-1))
		}
	}
	return strings.Join(parts, ",") + rapid.SampledFrom([]string{"", "", "", "", "", ",", ",x", ",0", "-"}).Draw(t, label+" damage")
}

func TestRulesAgreeWithANaiveEvaluation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rules []rule
		for range rapid.IntRange(0, 4).Draw(t, "rules") {
			var r rule
			if rapid.Bool().Draw(t, "has list") {
				text := drawList(t, "list")
				r.SucceededIndexes = &text
			}
			if rapid.Bool().Draw(t, "has count") {
				n := rapid.Int32Range(0, 12).Draw(t, "count")
				r.SucceededCount = &n
			}
			rules = append(rules, r)
		}
		succeeded, set := map[int]bool{}, indexset.Set{}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 40), 0, 40).Draw(t, "succeeded") {
			succeeded[i], set = true, set.Union(indexset.Of(int32(i)))
		}
		failed, lost, completions := map[int]bool{}, indexset.Set{}, rapid.IntRange(41, 60).Draw(t, "completions")
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 40), 0, 40).Draw(t, "failed") {
			if !succeeded[i] {
				failed[i], lost = true, lost.Union(indexset.Of(int32(i)))
			}
		}
		wantRule, want := naive(rules, succeeded, failed, completions)
		got, progress := Evaluate(&batchv1.SuccessPolicy{Rules: rules}, set, lost, int32(completions))
		if got != wantRule || !slices.Equal(progress, want) {
			t.Fatalf("got rule %d, %v; want %d, %v", got, progress, wantRule, want)
		}
	})
}

// longest returns a policy of 20 rules, each with the longest index list that the API server accepts, and success sets
// of 10^5 indexes: all but the last, every other index, and the first half.
func longest() (policy *batchv1.SuccessPolicy, sets map[string]indexset.Set) {
	const limit, maxBytes = 100_000, 64 << 10
	policy = &batchv1.SuccessPolicy{}
	for n := range 20 {
		// The last index has not succeeded, so every rule is read to its end.
		const end = "99999"
		var text []byte
		for i := n; len(text) <= maxBytes-2*len(end)-1; i += 2 {
			text = append(strconv.AppendInt(text, int64(i), 10), ',')
		}
		text = append(text, end...)
		policy.Rules = append(policy.Rules, listed(string(text)))
	}
	var even []int32
	for i := int32(0); i < limit; i += 2 {
		even = append(even, i)
	}
	return policy, map[string]indexset.Set{
		"all in order": indexset.Below(limit - 1),
		"every other":  indexset.Of(even...),
		"half":         indexset.Below(limit / 2),
	}
}

// SUC-22: valid lists cost no memory, however long they are.
func TestAllocatesProgressOnly(t *testing.T) {
	policy, sets := longest()
	for name, set := range sets {
		rule, progress := Evaluate(policy, set, indexset.Set{}, math.MaxInt32)
		for i, p := range progress {
			if rule != NoRule || p.Inert || p.Need < 10_000 || p.Have == p.Need {
				t.Fatalf("%s: not the worst case: rule %d, at %d %+v", name, rule, i, p)
			}
		}
		measure.CheckAllocations(t, 1, func() { Evaluate(policy, set, indexset.Set{}, math.MaxInt32) })
	}
}

// SUC-22: 20 rules of 64 KiB in milliseconds.
func BenchmarkEvaluate(b *testing.B) {
	policy, sets := longest()
	for _, name := range []string{"all in order", "every other", "half"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if rule, _ := Evaluate(policy, sets[name], indexset.Set{}, math.MaxInt32); rule != NoRule {
					b.Fatal(rule)
				}
			}
		})
	}
}

package indexset

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestScanStopsAtTheFirstError(t *testing.T) {
	for _, c := range []struct {
		text, before, message string
		order                 bool
	}{
		{"1,3-4,4-5,7", "1,3,4", `index list: "4-5": indexes must increase and not overlap`, true},
		{"5-3", "", `index list: "5-3": indexes must increase and not overlap`, true},
		{"0-2147483647,1", "0-2147483647", `index list: "1": indexes must increase and not overlap`, true},
		{"0,2x,3", "0", `index list: "2x": not a completion index`, false},
		{"3-1x", "", `index list: "3-1x": not a completion index`, false},
		{"0,", "0", `index list: "": not a completion index`, false},
		{",0", "", `index list: "": not a completion index`, false},
		{"1-2-3", "", `index list: "1-2-3": not a completion index`, false},
		{"2147483648", "", `index list: "2147483648": not a completion index`, false},
		{strings.Repeat("x", 64<<10), "", `index list: "` + strings.Repeat("x", 40) + `…": not a completion index`, false},
	} {
		var before Set
		var failed error
		for iv, err := range Scan(c.text) {
			if failed != nil {
				t.Errorf("%.20q goes on after an error", c.text)
			}
			if failed = err; err == nil {
				before.append(iv)
			}
		}
		if before.String() != c.before || failed == nil || failed.Error() != c.message || errors.Is(failed, ErrOrder) != c.order {
			t.Errorf("%.20q: got %q and %v, want %q and %s", c.text, before, failed, c.before, c.message)
		}
	}
}

func TestScanAccepts(t *testing.T) {
	for text, want := range map[string][]Interval{
		"":                       nil,
		"0":                      {{0, 0}},
		"007,00000000000010-011": {{7, 7}, {10, 11}},
		"1,2,3-3,4-5":            {{1, 1}, {2, 2}, {3, 3}, {4, 5}},
		"0-2147483647":           {{0, math.MaxInt32}},
	} {
		var got []Interval
		for iv, err := range Scan(text) {
			assert.NoError(t, err, text)
			got = append(got, iv)
		}
		if len(got) != len(want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
			continue
		}
		for i := range got {
			assert.Equalf(t, got[i], want[i], "%q: got %v, want %v", text, got, want)
		}
	}
}

// The caller may stop early, as with every iterator.
func TestScanIsLeft(t *testing.T) {
	n := 0
	for _, err := range Scan("1,2,3,x") {
		assert.NoError(t, err)
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Fatal(n)
	}
}

// splitNumber and splitParse read the format by splitting at the separators.
func splitNumber(text string) (int64, bool) {
	value := int64(0)
	for _, digit := range text {
		if digit < '0' || digit > '9' || value > math.MaxInt32 {
			return 0, false
		}
		value = 10*value + int64(digit-'0')
	}
	return value, text != "" && value <= math.MaxInt32
}

func splitParse(text string) (out Set, ok bool) {
	last := int64(-1)
	for _, part := range strings.Split(text, ",") {
		left, right, isRange := strings.Cut(part, "-")
		if !isRange {
			right = left
		}
		first, okFirst := splitNumber(left)
		end, okEnd := splitNumber(right)
		if !okFirst || !okEnd || first <= last || end < first {
			return Set{}, text == ""
		}
		last = end
		out.append(Interval{int32(first), int32(end)})
	}
	return out, true
}

// Random texts of few characters, often damaged: Scan accepts the texts that splitting at the separators accepts.
func TestScanAgainstSplitting(t *testing.T) {
	piece := rapid.SampledFrom([]string{"1", "2", "3", "8", "12", "40", "2147483647", "2147483648", ",", ",", "-", "-", "x", " ", "+"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 9).Draw(t, "text"), "")
		want, ok := splitParse(text)
		got, err := Parse(text)
		if ok != (err == nil) || !got.Equal(want) {
			t.Fatalf("%q: got %v, %v; want %v, %v", text, got, err, want, ok)
		}
	})
}

// SUC-22: counting along a stream equals building the intersection.
func TestCursorAgainstIntersection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, other := Of(drawModel(t, "set").indexes()...), Of(drawModel(t, "other").indexes()...)
		at, total := s.Cursor(), 0
		for iv := range other.Intervals() {
			// Split at random: a run of the set may be counted in several calls.
			cut := rapid.Int32Range(iv.First, iv.Last).Draw(t, "cut")
			for _, part := range []Interval{{iv.First, cut}, {cut + 1, iv.Last}} {
				if part.First > part.Last {
					continue
				}
				n := at.Count(part)
				if want := s.Intersection(OfIntervals(part)).Len(); n != want {
					t.Fatalf("%v of %v: got %d, want %d", part, s, n, want)
				}
				total += n
			}
		}
		if want := s.Intersection(other).Len(); total != want {
			t.Fatalf("got %d, want %d", total, want)
		}
	})
}

func TestCursorAtTheEnds(t *testing.T) {
	whole := OfIntervals(Interval{0, math.MaxInt32}).Cursor()
	assert.Equal(t, whole.Count(Interval{0, math.MaxInt32}), math.MaxInt32+1)
	empty := Set{}.Cursor()
	assert.Equal(t, empty.Count(Interval{0, 5}), 0)
}

// SUC-22: earlier runs are not visited again, otherwise the cost would be a product.
func TestCursorLeavesWhatItPassed(t *testing.T) {
	at := Of(0, 2, 4, 6, 8, 9).Cursor()
	for _, c := range []struct {
		next Interval
		at   int
	}{{Interval{1, 1}, 1}, {Interval{3, 5}, 3}, {Interval{7, 8}, 4}, {Interval{9, 9}, 5}} {
		if at.Count(c.next); at.at != c.at {
			t.Errorf("after %v: at run %d, want %d", c.next, at.at, c.at)
		}
	}
}

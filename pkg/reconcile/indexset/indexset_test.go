package indexset

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// model is the same set as a list of booleans: slow, and obviously correct.
type model map[int32]bool

func (m model) indexes() []int32 {
	var out []int32
	for i := range m {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

func drawModel(t *rapid.T, label string) model {
	m := model{}
	for _, i := range rapid.SliceOfN(rapid.Int32Range(0, 60), 0, 40).Draw(t, label) {
		m[i] = true
	}
	return m
}

func (s Set) mustBeCanonical(t interface{ Fatalf(string, ...any) }) {
	last := int64(-2)
	for _, iv := range s.runs {
		if int64(iv.First) <= last+1 || iv.Last < iv.First {
			t.Fatalf("runs not canonical: %v", s.runs)
		}
		last = int64(iv.Last)
	}
}

func TestAlgebraAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawModel(t, "a"), drawModel(t, "b")
		sa, sb := Of(a.indexes()...), Of(b.indexes()...)
		union, both, minus := model{}, model{}, model{}
		for i := int32(0); i <= 60; i++ {
			if a[i] || b[i] {
				union[i] = true
			}
			if a[i] && b[i] {
				both[i] = true
			}
			if a[i] && !b[i] {
				minus[i] = true
			}
			if sa.Contains(i) != a[i] {
				t.Fatalf("Contains(%d) of %v", i, sa)
			}
		}
		for name, c := range map[string]struct {
			got  Set
			want model
		}{
			"union": {sa.Union(sb), union}, "intersection": {sa.Intersection(sb), both}, "difference": {sa.Difference(sb), minus},
		} {
			c.got.mustBeCanonical(t)
			if !c.got.Equal(Of(c.want.indexes()...)) || c.got.Len() != len(c.want) {
				t.Fatalf("%s of %v and %v: got %v", name, sa, sb, c.got)
			}
		}
		if !slices.Equal(slices.Collect(sa.All()), a.indexes()) {
			t.Fatalf("All of %v", sa)
		}
	})
}

func TestOperandsStayAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := Of(drawModel(t, "a").indexes()...), Of(drawModel(t, "b").indexes()...)
		before, after := a.String(), ""
		first := a.Union(b).String()
		a.Union(Of(0, 61))
		a.Difference(b)
		a.Intersection(b)
		if after = a.String(); before != after || a.Union(b).String() != first {
			t.Fatalf("changed from %s to %s", before, after)
		}
	})
}

func TestFirstMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, "a")
		n, limit := rapid.IntRange(-1, 20).Draw(t, "n"), rapid.Int32Range(-1, 80).Draw(t, "limit")
		var want []int32
		for i := int32(0); i < limit && len(want) < n; i++ {
			if !m[i] {
				want = append(want, i)
			}
		}
		if got := Of(m.indexes()...).FirstMissing(n, limit); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// Pieces cover all indexes in order; a set has all indexes of a piece or none, and the pieces are as long as that allows.
func TestPiecesAreCoveredOrLeftOutByEachSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int32Range(0, 60).Draw(t, "limit")
		alone, s, u := Of(drawModel(t, "alone").indexes()...), Of(drawModel(t, "s").indexes()...), Of(drawModel(t, "u").indexes()...)
		next, previous := int32(0), ""
		for piece := range Pieces(limit, alone, s, u) {
			state := fmt.Sprint(s.Contains(piece.First), u.Contains(piece.First))
			if piece.First != next || piece.Last < piece.First {
				t.Fatalf("%v begins after %d", piece, next-1)
			}
			for i := piece.First; i <= piece.Last; i++ {
				if fmt.Sprint(s.Contains(i), u.Contains(i)) != state || alone.Contains(i) && piece.Len() > 1 {
					t.Fatalf("%v has different indexes", piece)
				}
			}
			if !alone.Contains(piece.First) && previous == state {
				t.Fatalf("%v could have been longer", piece)
			}
			if next, previous = piece.Last+1, state; alone.Contains(piece.First) {
				previous = ""
			}
		}
		if next != limit {
			t.Fatalf("the last piece ends at %d of %d", next-1, limit)
		}
	})
}

// BLI-10, JOB-09: the format of completedIndexes and failedIndexes.
func TestIndexesAreWrittenAsIntervals(t *testing.T) {
	for _, c := range []struct {
		indexes []int32
		want    string
	}{
		{nil, ""},
		{[]int32{-1}, ""},
		{[]int32{7}, "7"},
		{[]int32{0, 1}, "0,1"},
		{[]int32{1, 3, 4, 5, 7}, "1,3-5,7"},
		{[]int32{5, 4, 4, 3, 1, 0}, "0,1,3-5"},
		{[]int32{2147483647, 2147483646, 2147483645}, "2147483645-2147483647"},
	} {
		assert.Equal(t, Of(c.indexes...).String(), c.want, c.indexes)
	}
}

func TestParseRejects(t *testing.T) {
	for _, text := range []string{",", "1,", "a", "+1", " 1", "1-", "-1", "1-2-3", "3-1", "1,1", "2,1", "1-3,3", "2147483648"} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q: parsed as %v", text, s)
		}
	}
	if _, err := Parse("4,2"); !errors.Is(err, ErrOrder) {
		t.Errorf("order: %v", err)
	}
}

func TestParseJoinsWhatTouches(t *testing.T) {
	s, err := Parse("1,2,3,5-6,7")
	if err != nil || s.String() != "1-3,5-7" {
		t.Fatalf("got %v, %v", s, err)
	}
}

// JOB-09: damaged text does not stop a Job.
func TestDamagedTextIsSkipped(t *testing.T) {
	for _, c := range []struct {
		text    string
		limit   int32
		want    string
		skipped int
	}{
		{"", 5, "", 0},
		{"0-4", 5, "0-4", 0},
		{"0-4", 3, "0-2", 0},
		{"7", 3, "", 0},
		{"3,x,1,1-2", 9, "1-3", 1},
		{"0,,2", 9, "0,2", 1},
		{"4-2,6", 9, "6", 1},
		{"99999999999,1", 9, "1", 1},
		{"0-2147483647", 2147483647, "0-2147483646", 0},
		{"1", 0, "", 0},
		{"1", -3, "", 0},
	} {
		got, skipped := ParseTolerant(c.text, c.limit)
		if got.String() != c.want || skipped != c.skipped {
			t.Errorf("%q below %d: got %q and %d skipped, want %q and %d", c.text, c.limit, got, skipped, c.want, c.skipped)
		}
		assert.Equalf(t, CountTolerant(c.text, c.limit), got.Len(), "%q below %d: counted", c.text, c.limit)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "1,3-5,7", "0,1", "2147483647", "3-1", "a,1", "0-2147483647"} {
		f.Add(seed, int32(100))
	}
	f.Fuzz(func(t *testing.T, text string, limit int32) {
		tolerant, _ := ParseTolerant(text, limit)
		tolerant.mustBeCanonical(t)
		if n := CountTolerant(text, limit); n != tolerant.Len() {
			t.Fatalf("%q below %d: counted %d of %v", text, limit, n, tolerant)
		}
		for iv := range tolerant.Intervals() {
			if iv.Last >= limit {
				t.Fatalf("%q: %v is not below %d", text, iv, limit)
			}
		}
		s, err := Parse(text)
		if err != nil {
			return
		}
		s.mustBeCanonical(t)
		again, err := Parse(s.String())
		if err != nil || !again.Equal(s) {
			t.Fatalf("%q printed as %q read back as %v, %v", text, s, again, err)
		}
		if clipped, skipped := ParseTolerant(text, 2147483647); skipped != 0 || !clipped.Equal(s.Intersection(Below(2147483647))) {
			t.Fatalf("%q: tolerant parse differs: %v and %v", text, clipped, s)
		}
	})
}

// SUC-22 and SCL-04 require this: the cost depends on intervals, not on indexes.
func BenchmarkUnionOfHalves(b *testing.B) {
	odd, even := make([]int32, 0, 50_000), make([]int32, 0, 50_000)
	for i := int32(0); i < 100_000; i += 2 {
		even, odd = append(even, i), append(odd, i+1)
	}
	s, t := Of(odd...), Of(even...)
	b.ReportAllocs()
	for b.Loop() {
		if u := s.Union(t); u.Len() != 100_000 {
			b.Fatal(u.Len())
		}
	}
}

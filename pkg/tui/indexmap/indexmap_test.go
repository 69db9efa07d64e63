package indexmap

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// text returns the states of a Map as glyphs.
func text(m *Map) string {
	var b strings.Builder
	for _, s := range m.states {
		b.WriteString(Mark(s).Glyph(true))
	}
	return b.String()
}

// Issue 6, point 2: every index has its state, whatever the lists contain.
func TestEveryIndexIsInItsState(t *testing.T) {
	for _, c := range []struct {
		name string
		x    explain.Indexes
		want string
	}{
		{"nothing", explain.Indexes{}, ""},
		{"pending unless told", explain.Indexes{Total: 3}, "..."},
		{"every state", explain.Indexes{
			Total: 9, Completed: "0", Failed: "1", Active: "2,3", Ready: "3", Terminating: "4", BackingOff: "5", Pending: "6,8", Retrying: "8", Unknown: "7", OutOfRange: "9",
		}, "#XoO~b.?r@"},
		{"ready without active", explain.Indexes{Total: 2, Ready: "1"}, ".O"},
		{"overlaps: what matters most", explain.Indexes{Total: 4, Completed: "0-3", Active: "1-3", BackingOff: "2-3", Failed: "3"}, "#obX"},
		{"out of order", explain.Indexes{Total: 5, Completed: "3-4,0"}, "#..##"},
		{"damaged", explain.Indexes{Total: 4, Completed: "0,x,\x1b[2J,-1,2", Failed: ",,,"}, "#.#."},
		{"reversed", explain.Indexes{Total: 4, Completed: "3-1,0"}, "#..."},
		{"beyond the total", explain.Indexes{Total: 2, Completed: "0-9999999", Failed: "77"}, "##"},
		{"out of range below the total", explain.Indexes{Total: 2, OutOfRange: "0-3"}, "..@@"},
		{"negative total", explain.Indexes{Total: -5, Completed: "0"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New(&c.x)
			assert.Equal(t, text(&m), c.want)
			var all int64
			for s := range States {
				all += m.Count(s)
			}
			assert.Equal(t, all, int64(m.Len()), "counted indexes")
		})
	}
}

// Issue 6: a Job of any size is drawn without using gigabytes, and the number of hidden indexes is known.
func TestHugeJobIsDrawn(t *testing.T) {
	x := explain.Indexes{Total: math.MaxInt32, Completed: "0-2147483646", CompletedCount: math.MaxInt32, OutOfRange: "2147483647"}
	m := New(&x)
	if m.Len() != Most || m.Hidden() != math.MaxInt32-Most {
		t.Errorf("%d indexes, %d hidden", m.Len(), m.Hidden())
	}
	assert.Equal(t, m.Count(Succeeded), math.MaxInt32, "succeeded")
	few := New(&explain.Indexes{Total: 2, OutOfRange: "5-2147483647"})
	if few.Len() != Most || few.Hidden() == 0 {
		t.Errorf("%d indexes, %d hidden", few.Len(), few.Hidden())
	}
	if g := m.Fit(80, 10); g.Rows > 10 {
		t.Errorf("%d rows", g.Rows)
	}
}

// Issue 6: glyphs are one column wide and distinct, and ASCII glyphs are ASCII. No ASCII glyph is "+", which marks a healthy
// Job.
func TestGlyphsDiffer(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		seen := map[string]bool{}
		for m := range Marks {
			g := m.Glyph(ascii)
			if seen[g] {
				t.Errorf("%q stands for two marks", g)
			}
			seen[g] = true
			assert.Equalf(t, ansi.StringWidth(g), 1, "the width of %q", g)
			if ascii && (len(g) != 1 || g[0] >= 0x80 || g == "+") {
				t.Errorf("%q is not ASCII", g)
			}
			if m < Half && State(m).Word() == "" {
				t.Errorf("state %d has no word", m)
			}
		}
	}
}

// Issue 6.2: a cell shows its most important state; a cell that is partly completed or partly failed has its own mark.
func TestCellShowsWhatMattersMost(t *testing.T) {
	for _, c := range []struct{ states, want string }{
		{"#", "#"}, {".", "."}, {"#.", ":"}, {"#o.", "o"}, {"oO", "o"}, {"O#", "O"}, {"~o", "~"}, {"@?", "@"}, {"?o", "?"}, {"b~", "b"}, {"X", "X"}, {"X#", "x"}, {"X.", "x"}, {"Xb~@?oO.#", "x"},
	} {
		cell, seen := Cell{}, Set(0)
		for s := range States {
			n := strings.Count(c.states, Mark(s).Glyph(true))
			cell.Counts[s] = int32(n)
			if n > 0 {
				seen |= SetOf(s)
			}
		}
		assert.Equalf(t, cell.Mark().Glyph(true), c.want, "%q shows", c.states)
		assert.Equalf(t, seen.mark(), cell.Mark(), "%q: the set and the cell", c.states)
	}
}

func TestZoomStepsFollowEachOther(t *testing.T) {
	want := []int{1, 2, 5, 10, 20, 50, 100, 200}
	for i, per := range want[:len(want)-1] {
		assert.Equalf(t, Coarser(per), want[i+1], "%d is followed by", per)
		assert.Equalf(t, Finer(want[i+1]), per, "%d is preceded by", want[i+1])
	}
	assert.Equal(t, Finer(1), 1, "finer than 1")
}

// Next and Previous visit the indexes in a set, in both directions, and wrap around.
func TestNextAndPreviousVisitTheSet(t *testing.T) {
	m := New(&explain.Indexes{Total: 6, Completed: "0,3", Failed: "1", BackingOff: "4", OutOfRange: "90"})
	walk := func(step func(int32, Set) (int32, bool), from int32) (visited []int32) {
		for range 4 {
			to, found := step(from, Attention())
			if !found {
				return nil
			}
			visited, from = append(visited, to), to
		}
		return visited
	}
	assert.SlicesEqual(t, walk(m.Next, 0), []int32{1, 4, 90, 1}, "forward")
	assert.SlicesEqual(t, walk(m.Previous, 0), []int32{90, 4, 1, 90}, "backward")
	if _, found := m.Next(0, SetOf(Ready)); found {
		t.Error("found a state that does not occur")
	}
	if got, _ := m.Next(4, SetOf(BackOff)); got != 4 {
		t.Errorf("the only one: %d", got)
	}
	assert.SlicesEqual(t, m.Indexes(0, 90, SetOf(Succeeded, Failed), 2), []int32{0, 1}, "the first two")
	assert.SlicesEqual(t, m.Indexes(4, 90, Attention()|SetOf(Active, Ready), 9), []int32{4, 90}, "from 4 on")
	empty := New(&explain.Indexes{})
	if _, found := empty.Next(0, Attention()); found {
		t.Error("found an index of none")
	}
}

// For any lists and any size, a Grid has every index once, in order, in rows that fit.
func TestGridHasEveryIndexOnce(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		total := dice.Int32N(3000)
		x := explain.Indexes{Total: total, Completed: random(dice, total), Failed: random(dice, total), OutOfRange: indexset.Of(total+dice.Int32N(5), total+1000).String()}
		m := New(&x)
		width, rows := 1+dice.IntN(200), 1+dice.IntN(40)
		g := m.Fit(width, rows)
		checkGrid(t, &m, &g, width)
		if g.Rows > rows && g.Per < m.Len() {
			t.Fatalf("%d rows, room for %d", g.Rows, rows)
		}
		if g.Per > 1 {
			if finer := m.Grid(width, Finer(g.Per)); finer.Rows <= rows {
				t.Fatalf("%d in a cell, and %d would do", g.Per, finer.Per)
			}
		}
		zoomed := m.Grid(width, 1)
		checkGrid(t, &m, &zoomed, width)
	}
}

func checkGrid(t *testing.T, m *Map, g *Grid, width int) {
	t.Helper()
	const least = 12 // the minimum width for a row
	if taken := g.Label + g.Columns*g.Pitch - (g.Pitch - 1) + (g.Columns-1)/group; width >= least && taken > width {
		t.Fatalf("a row takes %d of %d columns", taken, width)
	}
	if width >= g.Label+group && g.Columns%group != 0 {
		t.Fatalf("%d cells in a row of %d columns", g.Columns, width)
	}
	if g.Rows*g.Columns < g.Len() || (g.Rows-1)*g.Columns >= max(g.Len(), 1) {
		t.Fatalf("%d cells in %d rows of %d", g.Len(), g.Rows, g.Columns)
	}
	n := 0
	for i := range g.Len() {
		c := g.Cell(i)
		if c.First != m.index(n) || c.First != g.First(i) || c.N < 1 || c.N > g.Per {
			t.Fatalf("cell %d is %+v, its first index should be %d", i, c, m.index(n))
		}
		if g.Mark(i) != c.Mark() {
			t.Fatalf("cell %d shows two marks", i)
		}
		n += c.N
		if c.Last != m.index(n-1) || g.CellOf(c.First) != i || g.CellOf(c.Last) != i {
			t.Fatalf("cell %d is %+v, %d and %d", i, c, g.CellOf(c.First), g.CellOf(c.Last))
		}
		if c.Counts[OutOfRange] > 0 && int(c.Counts[OutOfRange]) != c.N {
			t.Fatalf("cell %d mixes indexes of the Job with others: %+v", i, c)
		}
	}
	if n != m.Len() {
		t.Fatalf("%d indexes in the cells, %d on the map", n, m.Len())
	}
	if g.Cell(-1).N+g.Cell(g.Len()).N != 0 {
		t.Fatal("there are cells beyond the last one")
	}
}

func random(dice *rand.Rand, below int32) string {
	var of []int32
	for i := range below {
		if dice.IntN(3) == 0 {
			of = append(of, i)
		}
	}
	return indexset.Of(of...).String()
}

// The map of a Job that was scaled down is compact: the gap to its last pods is not drawn.
func TestOutOfRangeIsCompact(t *testing.T) {
	m := New(&explain.Indexes{Total: 10, OutOfRange: "99998,99999"})
	g := m.Fit(80, 10)
	if m.Len() != 12 || g.Per != 1 {
		t.Errorf("%d indexes, %d in a cell", m.Len(), g.Per)
	}
	if s, there := m.State(99999); !there || s != OutOfRange {
		t.Errorf("99999 is %v, %v", s, there)
	}
	if _, there := m.State(50); there {
		t.Error("50 is on the map")
	}
	assert.Equal(t, g.First(g.CellOf(50)), 99998, "50 is shown at")
	assert.Equal(t, g.First(g.CellOf(math.MaxInt32)), 99999, "the highest number is shown at")
}

// FuzzNew checks that no list causes a panic, and that every index is counted once.
func FuzzNew(f *testing.F) {
	f.Add(int32(5), "0-2", "3", "4,5", "9-7,1")
	f.Add(int32(math.MaxInt32), "0-2147483647", ",", "-", "2147483647")
	f.Fuzz(func(t *testing.T, total int32, completed, failed, active, beyond string) {
		m := New(&explain.Indexes{Total: total, Completed: completed, Failed: failed, Active: active, OutOfRange: beyond})
		g := m.Fit(80, 20)
		for i := range min(g.Len(), 3) {
			_ = g.Cell(i)
		}
		if m.Len() > Most {
			t.Errorf("%d indexes", m.Len())
		}
	})
}

// fragmented returns n indexes in lists of maximum length.
func fragmented(n int32) *explain.Indexes {
	lists := make([][]int32, 5)
	for i := range n {
		lists[i%5] = append(lists[i%5], i)
	}
	text := func(i int) string { return indexset.Of(lists[i]...).String() }
	return &explain.Indexes{Total: n, Completed: text(0), Failed: text(1), Active: text(2), BackingOff: text(3), Pending: text(4)}
}

// BenchmarkNew uses 100,000 indexes, with no two neighbors in the same state.
func BenchmarkNew(b *testing.B) {
	x := fragmented(100_000)
	b.ReportAllocs()
	for b.Loop() {
		_ = New(x)
	}
}

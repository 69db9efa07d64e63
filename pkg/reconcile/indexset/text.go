package indexset

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// String returns the set in the format of status.completedIndexes (KEP-2214, KEP-3850): increasing, separated by
// commas, runs of three and more as "first-last", a run of two as two numbers. The empty set is "".
func (s Set) String() string {
	if s.IsEmpty() {
		return ""
	}
	text := make([]byte, 0, len(s.runs)*8) // It grows if needed.
	for n, iv := range s.runs {
		if n > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(iv.First), 10)
		if iv.Last == iv.First {
			continue
		}
		separator := byte('-')
		if iv.Len() == 2 {
			separator = ','
		}
		text = append(text, separator)
		text = strconv.AppendInt(text, int64(iv.Last), 10)
	}
	return string(text)
}

// ErrOrder means that the intervals of a text are not increasing, or overlap.
var ErrOrder = errors.New("indexes must increase and not overlap")

var errNotIndex = errors.New("not a completion index")

// Parse reads the format of String. Like the API server in succeededIndexes, it also accepts runs that are not joined,
// such as "1,2,3" (D-05). The error contains the first invalid fragment.
func Parse(text string) (Set, error) {
	var s Set
	for iv, err := range Scan(text) {
		if err != nil {
			return Set{}, err
		}
		s.append(iv)
	}
	return s, nil
}

// Scan yields the intervals of a text as Parse reads it, without storing them: in increasing order and without
// overlaps, though neighbors may be adjacent. At the first invalid fragment it yields Parse's error and ends, so do not
// use the intervals before the whole text was read. Only an error is allocated.
func Scan(text string) iter.Seq2[Interval, error] {
	return func(yield func(Interval, error) bool) { scan(text, yield) }
}

func scan(text string, yield func(Interval, error) bool) {
	last := int32(-1)
	for more := text != ""; more; {
		iv, rest, err := cutInterval(text)
		if err == nil && iv.First <= last {
			err = ErrOrder
		}
		if err != nil {
			yield(Interval{}, fmt.Errorf("index list: %q: %w", fragment(text), err))
			return
		}
		if !yield(iv, nil) {
			return
		}
		last = iv.Last
		if more = rest != ""; more {
			text = rest[1:]
		}
	}
}

// fragment returns the text before the next comma, shortened: 64 KiB of text without a comma would make the error
// useless.
func fragment(text string) string {
	const enough = 40
	text, _, _ = strings.Cut(text, ",")
	if len(text) > enough {
		return text[:enough] + "…"
	}
	return text
}

// Cursor walks through a set once, in step with increasing intervals, such as those from Scan, so that together they
// cost O(intervals of the set + intervals given).
type Cursor struct {
	runs []Interval
	at   int
}

// Cursor returns a Cursor at the lowest index of the set.
func (s Set) Cursor() Cursor { return Cursor{runs: s.runs} }

// Count returns how many indexes of the interval are in the set. Each interval must begin after the end of the previous
// one: the cursor does not go back.
func (c *Cursor) Count(iv Interval) int {
	n, at := 0, c.at
	for ; at < len(c.runs) && c.runs[at].First <= iv.Last; at++ {
		run := c.runs[at]
		if run.Last >= iv.First {
			n += Interval{max(run.First, iv.First), min(run.Last, iv.Last)}.Len()
		}
		if run.Last > iv.Last {
			break // the rest of this run may be in the next interval
		}
	}
	c.at = at
	return n
}

// ParseTolerant reads a stored list that may be damaged, as JOB-09 requires: invalid fragments are skipped, the order
// does not matter, adjacent intervals are joined, and indexes at or above limit are dropped. The second result is the
// number of skipped fragments.
func ParseTolerant(text string, limit int32) (Set, int) {
	if text == "" || limit <= 0 {
		return Set{}, 0
	}
	intervals := make([]Interval, 0, 1+strings.Count(text, ","))
	skipped := 0
	for more := true; more; {
		iv, rest, err := cutInterval(text)
		if err != nil {
			skipped++
			_, text, more = strings.Cut(text, ",")
			continue
		}
		if iv.First < limit {
			intervals = append(intervals, Interval{iv.First, min(iv.Last, limit-1)})
		}
		if more = rest != ""; more {
			text = rest[1:]
		}
	}
	return join(intervals), skipped
}

// CountTolerant returns the number of indexes in the set of ParseTolerant. It builds a set only if the list is damaged.
func CountTolerant(text string, limit int32) int {
	n := 0
	for iv, err := range Scan(text) {
		if err != nil {
			set, _ := ParseTolerant(text, limit)
			return set.Len()
		}
		if iv.First < limit {
			n += Interval{iv.First, min(iv.Last, limit-1)}.Len()
		}
	}
	return n
}

// cutInterval reads the "7" or "3-7" at the start of the text. The rest is empty or begins
// with the comma.
func cutInterval(text string) (iv Interval, rest string, err error) {
	first, rest, ok := cutIndex(text)
	last := first
	if ok && rest != "" && rest[0] == '-' {
		last, rest, ok = cutIndex(rest[1:])
	}
	if !ok || rest != "" && rest[0] != ',' {
		return Interval{}, "", errNotIndex
	}
	if last < first {
		return Interval{}, "", ErrOrder
	}
	return Interval{first, last}, rest, nil
}

// cutIndex reads the decimal at the start of the text, without sign or spaces.
func cutIndex(text string) (index int32, rest string, ok bool) {
	value, n := int64(0), 0
	for ; n < len(text) && text[n] >= '0' && text[n] <= '9'; n++ {
		if value = 10*value + int64(text[n]-'0'); value > math.MaxInt32 {
			return 0, "", false
		}
	}
	return int32(value), text[n:], n > 0
}

package indexset

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// String prints the set in the format of status.completedIndexes (KEP-2214,
// KEP-3850): increasing, separated by commas, runs of three and more as
// "first-last", a run of two as two numbers. The empty set is "".
func (s Set) String() string {
	var b strings.Builder
	for n, iv := range s.runs {
		if n > 0 {
			b.WriteByte(',')
		}
		writeInt(&b, iv.First)
		if iv.Last == iv.First {
			continue
		}
		separator := byte('-')
		if iv.Len() == 2 {
			separator = ','
		}
		b.WriteByte(separator)
		writeInt(&b, iv.Last)
	}
	return b.String()
}

func writeInt(b *strings.Builder, i int32) {
	var digits [10]byte
	b.Write(strconv.AppendInt(digits[:0], int64(i), 10))
}

// ErrOrder says that the intervals of a text are not increasing, or overlap.
var ErrOrder = errors.New("indexes must increase and not overlap")

// Parse reads the format that String prints. It also takes what the API server
// takes in succeededIndexes: runs that are not joined, such as "1,2,3" (D-05).
// The error names the first fragment that is wrong.
func Parse(text string) (Set, error) {
	var s Set
	if text == "" {
		return s, nil
	}
	last := int64(-1)
	for fragment := range strings.SplitSeq(text, ",") {
		iv, err := parseInterval(fragment)
		if err != nil {
			return Set{}, fmt.Errorf("index list: %q: %w", fragment, err)
		}
		if int64(iv.First) <= last {
			return Set{}, fmt.Errorf("index list: %q: %w", fragment, ErrOrder)
		}
		last = int64(iv.Last)
		s.append(iv)
	}
	return s, nil
}

// ParseTolerant reads a stored list that may be damaged, as JOB-09 asks: a
// fragment that cannot be read is skipped, order does not matter, intervals
// that touch are joined, and only indexes below limit stay. The second result
// counts the fragments that were skipped.
func ParseTolerant(text string, limit int32) (Set, int) {
	if text == "" || limit <= 0 {
		return Set{}, 0
	}
	var intervals []Interval
	skipped := 0
	for fragment := range strings.SplitSeq(text, ",") {
		iv, err := parseInterval(fragment)
		switch {
		case err != nil:
			skipped++
		case iv.First < limit:
			intervals = append(intervals, Interval{iv.First, min(iv.Last, limit-1)})
		}
	}
	return OfIntervals(intervals...), skipped
}

// parseInterval reads "7" or "3-7".
func parseInterval(text string) (Interval, error) {
	left, right, isRange := strings.Cut(text, "-")
	first, err := parseIndex(left)
	if err != nil {
		return Interval{}, err
	}
	if !isRange {
		return Interval{first, first}, nil
	}
	last, err := parseIndex(right)
	if err != nil {
		return Interval{}, err
	}
	if last < first {
		return Interval{}, ErrOrder
	}
	return Interval{first, last}, nil
}

// parseIndex reads a decimal without sign or spaces; strconv alone would take "+1".
func parseIndex(text string) (int32, error) {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 0, errors.New("not a completion index")
	}
	i, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, errors.New("not a completion index")
	}
	return int32(i), nil
}

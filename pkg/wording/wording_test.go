package wording

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Durations have at most two units.
func TestDurationHasTwoUnitsAtMost(t *testing.T) {
	for seconds, want := range map[int64]string{
		0: "0s", 59: "59s", 60: "1m", 80: "1m20s", 120: "2m", 3599: "59m59s", 3600: "1h", 3601: "1h", 11045: "3h4m", 86399: "23h59m", 86400: "1d", 183600: "2d3h", -5: "-5s", -80: "-1m20s",
	} {
		assert.Equalf(t, Duration(time.Duration(seconds)*time.Second), want, "%d seconds", seconds)
	}
	for d, want := range map[time.Duration]string{999 * time.Millisecond: "0s", -999 * time.Millisecond: "0s", math.MaxInt64: "292y+", math.MinInt64: "-292y+"} {
		assert.Equalf(t, Duration(d), want, "%d ns", d)
	}
}

// Seconds may exceed a Duration.
func TestSeconds(t *testing.T) {
	for n, want := range map[int64]string{80: "1m20s", -80: "-1m20s", math.MaxInt64: "106751991167300d15h", math.MinInt64: "-106751991167300d15h"} {
		assert.Equalf(t, Seconds(n), want, "%d seconds", n)
	}
}

// An age has one unit, and is never negative.
func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{90 * time.Second: "1m", 0: "0s", -time.Hour: "0s", math.MinInt64: "0s", math.MaxInt64: "292y+"} {
		assert.Equalf(t, ShortAge(d), want, "%d ns", d)
	}
}

// Empty parts get no separator.
func TestJoin(t *testing.T) {
	for want, parts := range map[string][]string{"": {"", ""}, "a": {"", "a"}, "a, b": {"a", "", "b", ""}} {
		assert.Equal(t, Join(", ", parts...), want)
	}
}

// A time on another day has its date; days are days of the time zone.
func TestClock(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 30, 0, 0, time.UTC)
	west := time.FixedZone("west", -3600)
	for _, tc := range []struct {
		t    time.Time
		in   *time.Location
		want string
	}{
		{now, time.UTC, "00:30:00"}, {now.Add(-time.Hour), time.UTC, "2026-02-28 23:30:00"}, {now.Add(-time.Hour), west, "22:30:00"},
		{now.AddDate(1, 0, 0), time.UTC, "2027-03-01 00:30:00"},
	} {
		assert.Equalf(t, Clock(tc.t, now, tc.in), tc.want, "%s in %s", tc.t, tc.in)
	}
}

// A share is 0% only of nothing, and 100% only of everything.
func TestPercent(t *testing.T) {
	for _, tc := range []struct {
		have, total int64
		want        string
	}{
		{0, 1000, "0%"}, {1, 1000, "<1%"}, {2, 412, "<1%"}, {1, 200, "1%"}, {500, 1000, "50%"}, {1, 1, "100%"}, {999, 1000, "99%"}, {9, 5, "100%"}, {-1, 5, "0%"}, {0, 0, "0%"}, {1, 0, "0%"},
		{1, 3, "33%"}, {2, 3, "67%"},
	} {
		assert.Equalf(t, Percent(tc.have, tc.total), tc.want, "Percent(%d, %d)", tc.have, tc.total)
	}
}

// A bar is empty only for nothing, full only for everything, and never exceeds its width.
func TestBarIsFullOnlyForEverything(t *testing.T) {
	for _, tc := range []struct {
		have, total int64
		width, want int
	}{
		{0, 1000, 4, 0}, {1, 1000, 4, 1}, {500, 1000, 4, 2}, {999, 1000, 4, 3}, {1, 1, 4, 4}, {9, 5, 4, 4}, {-1, 5, 4, 0}, {0, 0, 4, 0}, {3, 0, 4, 0}, {1, 2, 0, 0}, {1, 2, 1, 0}, {2, 2, 1, 1}, {1, 2, -1, 0},
	} {
		assert.Equalf(t, Fill(tc.have, tc.total, tc.width), tc.want, "Fill(%d, %d, %d)", tc.have, tc.total, tc.width)
	}
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(1, math.MaxInt32).Draw(t, "total")
		have := rapid.Int64Range(0, total).Draw(t, "have")
		width := rapid.IntRange(2, 200).Draw(t, "width")
		got := Fill(have, total, width)
		if got < 0 || got > width || (got == 0) != (have == 0) || (got == width) != (have == total) {
			t.Fatalf("Fill(%d, %d, %d) = %d", have, total, width, got)
		}
		if have < total && Fill(have+1, total, width) < got {
			t.Fatalf("Fill(%d, %d, %d) goes back", have+1, total, width)
		}
	})
}

// Counts have commas from 1,000 on.
func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567", math.MinInt64: "-9,223,372,036,854,775,808"} {
		assert.Equal(t, Thousands(n), want, n)
	}
	if got := Plural(2000, "pod", "pods") + ", " + Count(1500, "failed") + ", " + Of(3, 2000); got != "2,000 pods, 1,500 failed, 3 of 2,000" {
		t.Error(got)
	}
	assert.Equal(t, string(AppendThousands([]byte("1/"), int32(5000))), "1/5,000")
}

func TestPlural(t *testing.T) {
	for n, want := range map[int64]string{0: "0 pods", 1: "1 pod", 2: "2 pods", -1: "-1 pods"} {
		assert.Equal(t, Plural(n, "pod", "pods"), want, n)
	}
}

// Names of fields, pods and programs keep their case.
func TestSentence(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "pods are gone": "Pods are gone", "pods, and more": "Pods, and more", "note: x": "Note: x", "backoffLimit was reached": "backoffLimit was reached",
		"train-0 failed": "train-0 failed", "Already": "Already", "über alles": "über alles", " leading": " leading", "x": "X", "3 pods": "3 pods", "\xff": "\xff",
	} {
		assert.Equal(t, Sentence(s), want, s)
	}
}

func TestListsOfWords(t *testing.T) {
	for words, want := range map[string][2]string{
		"":          {"", ""},
		"a":         {"a", "a"},
		"a b":       {"a or b", "a and b"},
		"a b c":     {"a, b or c", "a, b and c"},
		"a b c d e": {"a, b, c, d or e", "a, b, c and 2 more"},
	} {
		list := strings.Fields(words)
		assert.Equal(t, [2]string{Enumerate(list, "or"), EnumerateFew(list)}, want, words)
	}
}

func TestInsertReplacesEachKeyOnce(t *testing.T) {
	for template, want := range map[string]string{
		"": "", "plain": "plain", "{a}": "{b}", "x {b}{a} {c} {": "x 2{b} {c} {", "{{a}}": "{{b}}",
	} {
		assert.Equal(t, Insert(template, "{a}", "{b}", "{b}", "2"), want, template)
	}
}

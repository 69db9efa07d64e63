package text

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// indexesLimit is where lists of indexes are cut, as kubectl describe does (CLI-02).
const indexesLimit = 50

// indexes is a list of intervals, cut on a comma unless everything is to be shown.
func (p *page) indexes(list string) string {
	if p.opts.Full || len(list) <= indexesLimit {
		return list
	}
	comma := strings.IndexByte(list[indexesLimit:], ',')
	if comma < 0 {
		return list
	}
	return list[:indexesLimit+comma+1] + p.glyphs.Ellipsis
}

// span of time in at most two units: 1m20s, 3h4m, 2d3h.
func short(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	seconds := int64(d / time.Second)
	two := func(big int64, bigUnit string, small int64, smallUnit string) string {
		if small == 0 {
			return fmt.Sprintf("%s%d%s", sign, big, bigUnit)
		}
		return fmt.Sprintf("%s%d%s%d%s", sign, big, bigUnit, small, smallUnit)
	}
	switch {
	case seconds < 60:
		return two(seconds, "s", 0, "")
	case seconds < 60*60:
		return two(seconds/60, "m", seconds%60, "s")
	case seconds < 24*60*60:
		return two(seconds/3600, "h", seconds%3600/60, "m")
	}
	return two(seconds/86400, "d", seconds%86400/3600, "h")
}

// clock is a time of day, with the date if it is not that of the observation.
func (v *view) clock(t time.Time) string {
	t = t.In(v.page.opts.Location)
	now := v.report.ObservedAt.In(v.page.opts.Location)
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// countdown is "in 1m20s, at 12:03:04", or how long ago it should have ended.
func (v *view) countdown(t time.Time) string {
	left := t.Sub(v.report.ObservedAt.Time)
	if left < 0 {
		return fmt.Sprintf("%s ago, at %s", short(-left), v.clock(t))
	}
	if left < time.Second {
		return "now"
	}
	return fmt.Sprintf("in %s, at %s", short(left), v.clock(t))
}

// ago is "3s ago".
func (v *view) ago(t *metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	return short(max(0, v.report.ObservedAt.Sub(t.Time))) + " ago"
}

// offset is how long after the start of the Job something happened: +12s.
func (v *view) offset(t *metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	d := t.Sub(v.start())
	if d < time.Second {
		return short(d)
	}
	return "+" + short(d)
}

// start is what offsets are relative to.
func (v *view) start() time.Time {
	for _, t := range []*metav1.Time{v.report.Job.Created, v.report.Job.Started} {
		if !t.IsZero() {
			return t.Time
		}
	}
	if len(v.report.Timeline) > 0 {
		return v.report.Timeline[0].Time.Time
	}
	return v.report.ObservedAt.Time
}

// bar is a progress bar; whatever has begun shows a first mark, and only all fills it.
func (p *page) bar(have, total int64, width int) string {
	if total <= 0 || have < 0 {
		have, total = 0, 1
	}
	full := int(min(have, total) * int64(width) / total)
	if full == 0 && have > 0 {
		full = 1
	}
	if full == width && have < total {
		full = width - 1
	}
	return strings.Repeat(p.glyphs.BarFull, full) + strings.Repeat(p.glyphs.BarEmpty, width-full)
}

// percent is rounded, yet neither 0 % of something nor 100 % of less than all.
func percent(have, total int64) string {
	switch {
	case have <= 0 || total <= 0:
		return "0%"
	case have >= total:
		return "100%"
	}
	return fmt.Sprintf("%d%%", min(99, max(1, (have*100+total/2)/total)))
}

// plural is "1 pod" or "2 pods".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// sentence makes a text begin with a capital letter, unless it begins with a name such as
// backoffLimit.
func sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first == "" || strings.IndexFunc(strings.TrimRight(first, ",:"), func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// examples are the first few of a list.
func (p *page) examples(list []string, most int) string {
	if p.opts.Full || len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + ", " + p.glyphs.Ellipsis
}

package text

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// indexesLimit is where lists of indexes are cut, as kubectl describe does (CLI-02).
const indexesLimit = 50

// indexes is a list of intervals, cut on a comma unless everything is to be shown.
func (p *page) indexes(list string) string {
	if p.opts.Full {
		return list
	}
	return explain.Crop(list, indexesLimit)
}

// clock is a time of day, see wording.Clock.
func (v *view) clock(t time.Time) string {
	return wording.Clock(t, v.report.ObservedAt.Time, v.page.opts.Location)
}

// countdown is "in 1m20s, at 12:03:04", or how long ago it should have ended.
func (v *view) countdown(t time.Time) string {
	left := t.Sub(v.report.ObservedAt.Time)
	if left < 0 {
		return fmt.Sprintf("%s ago, at %s", wording.Duration(-left), v.clock(t))
	}
	if left < time.Second {
		return "now"
	}
	return fmt.Sprintf("in %s, at %s", wording.Duration(left), v.clock(t))
}

// ago is "3s ago".
func (v *view) ago(t *metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	return wording.Duration(max(0, v.report.ObservedAt.Sub(t.Time))) + " ago"
}

// offset is how long after the start of the Job something happened: +12s.
func (v *view) offset(t *metav1.Time) string {
	if t.IsZero() {
		return ""
	}
	d := t.Sub(v.start())
	if d < time.Second {
		return wording.Duration(d)
	}
	return "+" + wording.Duration(d)
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

// bar is a progress bar, see wording.Fill.
func (p *page) bar(have, total int64, width int) string {
	full := wording.Fill(have, total, width)
	return strings.Repeat(p.Glyphs.BarFull, full) + strings.Repeat(p.Glyphs.BarEmpty, width-full)
}

// examples are the first few of a list.
func (p *page) examples(list []string, most int) string {
	if p.opts.Full || len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + ", " + p.Glyphs.More
}

//go:build unix

package main

import (
	"fmt"
	"strings"
)

// The targets for a Job of 10^5 indexes.
const (
	mostOverFloor    = 1.03
	mostGiantMB      = 250
	mostSyncMS       = 1000
	mostWatchMB      = 150
	mostWatchCores   = 0.3
	mostExplainMB    = 100
	mostExplainTaken = 3 // seconds
)

func (r *report) addGiant(g giant) {
	where := fmt.Sprintf("%d indexes: ", g.Pods)
	all := bulks{g.Ours, g.Floor}
	r.addFloor(all, where, &target{Limit: mostOverFloor})
	if len(all.of(ours)) > 0 { // Otherwise, an error came first.
		r.addGiantJob(where, g, all)
	}
	for _, look := range g.Looks {
		r.addLook(where, look)
	}
}

func (r *report) addGiantJob(where string, g giant, all bulks) {
	r.add("", where+"create to Complete, s", 0, all.mean(ours, bulk.seconds), nil, nil)
	n := float64(g.Pods)
	count := account(g.Ours.counts)
	value := func(v float64) *float64 { return &v }
	r.add("SCL-03", where+"requests about pods, per pod", 3, value(float64(count.podRequests())/n), nil, &target{Limit: 2.01})
	r.add("SCL-03", where+"status writes", 0, value(float64(count.Status)), nil, nil)
	r.add("", where+"size of the Job, KB", 0, value(float64(g.JobBytes)/1e3), nil, nil)
	r.addSyncTimes(where, g)
	r.addProcesses(all, where, nil, &target{Limit: mostGiantMB})
}

func (r *report) addSyncTimes(where string, g giant) {
	for _, p := range []struct {
		name    string
		seconds *float64
		goal    *target
	}{{"p50", g.SyncP50, nil}, {"p99", g.SyncP99, &target{Limit: mostSyncMS}}} {
		if p.seconds != nil {
			ms := 1000 * *p.seconds
			r.add("", where+"sync, "+p.name+", ms", 0, &ms, nil, p.goal)
		}
	}
}

// addLook adds the costs of a verb.
func (r *report) addLook(where string, look lookCosts) {
	seconds, cores := look.Seconds, look.CPU/look.Seconds
	requests, received, peak := float64(look.Requests), mega(look.Bytes), mega(look.Peak)
	what := where + look.Verb
	var mostMB, mostSeconds, mostCores *target
	switch look.Verb {
	case "watch":
		mostMB, mostCores = &target{Limit: mostWatchMB, Below: true}, &target{Limit: mostWatchCores}
	case "why":
		mostMB, mostSeconds = &target{Limit: mostExplainMB, Below: true}, &target{Limit: mostExplainTaken, Below: true}
	}
	r.add("", what+", s", 1, &seconds, nil, mostSeconds)
	r.add("", what+", cores", 2, &cores, nil, mostCores)
	r.add("", what+", requests", 0, &requests, nil, nil)
	r.add("", what+", received, MB", 1, &received, nil, nil)
	r.add("", what+", peak RSS, MB", 0, &peak, nil, mostMB)
}

// plot draws the samples as an SVG: the number of succeeded pods, and our controller's memory.
func (g giant) plot() []byte {
	const width, height, margin = 720.0, 260.0, 40.0
	var end, most float64
	for _, s := range g.Samples {
		end, most = max(end, s.Seconds), max(most, mega(s.RSS))
	}
	line := func(color string, of func(moment) float64) string {
		var points []string
		for _, s := range g.Samples {
			points = append(points, fmt.Sprintf("%.1f,%.1f", margin+(width-2*margin)*s.Seconds/max(end, 1), height-margin-(height-2*margin)*of(s)))
		}
		return fmt.Sprintf(`<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", color, strings.Join(points, " "))
	}
	text := func(x, y float64, anchor, color, words string) string {
		return fmt.Sprintf(`<text x="%.0f" y="%.0f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, color, words)
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12" role="img" aria-label="A Job of %d indexes">`+"\n", width, height, g.Pods)
	out.WriteString(`<rect width="100%" height="100%" rx="8" fill="#0d1117"/>` + "\n")
	out.WriteString(line("#3fb950", func(s moment) float64 { return float64(s.Succeeded) / float64(g.Pods) }))
	out.WriteString(line("#d2a8ff", func(s moment) float64 { return mega(s.RSS) / max(most, 1) }))
	out.WriteString(text(margin, 24, "start", "#3fb950", fmt.Sprintf("succeeded pods, up to %d", g.Pods)))
	out.WriteString(text(width-margin, 24, "end", "#d2a8ff", fmt.Sprintf("memory of the controller (RSS), up to %.0f MB", most)))
	out.WriteString(text(margin, height-16, "start", "#8b949e", "0 s"))
	out.WriteString(text(width-margin, height-16, "end", "#8b949e", fmt.Sprintf("%.0f s", end)))
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

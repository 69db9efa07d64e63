//go:build unix

package main

import (
	"fmt"
	"math"
	"strings"
)

// The picture has a row for each side: completed calls on the left, calls in flight on the right.
const (
	chartWidth, chartHeight = 400.0, 130.0
	chartLeft, chartGap     = 56.0, 64.0
	chartTop, chartSpace    = 64.0, 58.0
	chartSteps              = 160
)

// plottedCalls are the kinds of calls in the picture, and their colors.
var plottedCalls = []struct {
	kind        callKind
	name, color string
}{
	{callCreate, "creations", "#3fb950"},
	{callStrip, "releases (finalizer patches)", "#d2a8ff"},
	{callStatus, "status writes", "#ffa657"},
}

const (
	eventColor = "#58a6ff"
	quietColor = "#8b949e"
	gridColor  = "#30363d"
)

// sideNames are the names of the sides in the picture.
var sideNames = map[side]string{ours: "batchjob controller", builtIn: "built-in controller", floor: "bare client"}

// plotTimelines draws an SVG. All charts have the same time scale; the scale of calls in flight differs by side.
func plotTimelines(list []timeline) []byte {
	var end, pods float64
	for _, t := range list {
		end, pods = max(end, t.Seconds), max(pods, float64(t.Pods))
	}
	width := chartLeft + 2*chartWidth + chartGap + 24
	height := chartTop + float64(len(list))*(chartHeight+chartSpace)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12" role="img" aria-label="A Job of %.0f indexes, call by call">`+"\n", width, height, pods)
	out.WriteString(`<rect width="100%" height="100%" rx="8" fill="#0d1117"/>` + "\n")
	plotLegend(&out)
	for i, t := range list {
		y := chartTop + float64(i)*(chartHeight+chartSpace) + 22
		left := chart{x: chartLeft, y: y, end: end, until: t.Seconds, most: pods}
		right := chart{x: chartLeft + chartWidth + chartGap, y: y, end: end, until: t.Seconds, most: t.mostInFlight(end)}
		left.frame(&out, fmt.Sprintf("%s: done, %.2f s", sideNames[t.Side], t.Seconds))
		right.frame(&out, "in flight, on average")
		left.line(&out, eventColor, func(_, to float64) float64 { return float64(t.seen(podEnded, to)) })
		for _, p := range plottedCalls {
			right.line(&out, p.color, func(from, to float64) float64 { return t.inFlight(p.kind, from, to) })
			if p.kind != callStatus {
				left.line(&out, p.color, func(_, to float64) float64 { return float64(t.done(p.kind, to)) })
			}
		}
		left.marks(&out, t)
	}
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

// steps divides the time axis of the picture.
func steps(end float64) (list [][2]float64) {
	for i := range chartSteps {
		list = append(list, [2]float64{end * float64(i) / chartSteps, end * float64(i+1) / chartSteps})
	}
	return list
}

// mostInFlight returns the maximum of the averages of calls in flight, at least 1.
func (t timeline) mostInFlight(end float64) float64 {
	most := 1.0
	for _, s := range steps(end) {
		for _, p := range plottedCalls {
			most = max(most, t.inFlight(p.kind, s[0], s[1]))
		}
	}
	return most
}

func plotLegend(out *strings.Builder) {
	x := chartLeft
	entry := func(color, name string) {
		fmt.Fprintf(out, `<line x1="%.0f" y1="30" x2="%.0f" y2="30" stroke="%s" stroke-width="3"/>`, x, x+18, color)
		writeText(out, x+24, 34, "start", color, name)
		x += 60 + 6.5*float64(len(name))
	}
	for _, p := range plottedCalls {
		entry(p.color, p.name)
	}
	entry(eventColor, "watch events: pods that ended")
}

// chart is one diagram, with its upper left corner at x and y; its upper edge is the value most, its right edge the time
// end. Its lines end at the time until.
type chart struct{ x, y, end, until, most float64 }

func (c chart) at(seconds, value float64) (x, y float64) {
	return c.x + chartWidth*seconds/c.end, c.y + chartHeight*(1-value/c.most)
}

func (c chart) frame(out *strings.Builder, title string) {
	writeText(out, c.x, c.y-8, "start", "#e6edf3", title)
	for _, value := range ticks(c.most) {
		_, y := c.at(0, value)
		fmt.Fprintf(out, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`, c.x, y, c.x+chartWidth, y, gridColor)
		writeText(out, c.x-6, y+4, "end", quietColor, plain(value))
	}
	for _, seconds := range ticks(c.end) {
		x, _ := c.at(seconds, 0)
		writeText(out, x, c.y+chartHeight+16, "middle", quietColor, plain(seconds)+" s")
	}
}

// line draws the value of each time step.
func (c chart) line(out *strings.Builder, color string, value func(from, to float64) float64) {
	var points []string
	for _, s := range steps(c.end) {
		from, to := s[0], s[1]
		if from > c.until {
			break
		}
		x, y := c.at(to, value(from, to))
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	fmt.Fprintf(out, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`+"\n", color, strings.Join(points, " "))
}

// marks draws a mark at the lower edge for each status write.
func (c chart) marks(out *strings.Builder, t timeline) {
	for _, call := range t.Calls {
		if call.Kind == callStatus {
			x, y := c.at(call.Ended, 0)
			fmt.Fprintf(out, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ffa657" stroke-width="2"/>`+"\n", x, y, x, y-10)
		}
	}
}

func writeText(out *strings.Builder, x, y float64, anchor, color, words string) {
	fmt.Fprintf(out, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, color, words)
}

// ticks returns round numbers from 0 to highest, at most five.
func ticks(highest float64) (list []float64) {
	power := math.Pow(10, math.Floor(math.Log10(highest)))
	step := power
	for _, part := range []float64{0.2, 0.5, 1, 2} {
		if step = power * part; highest/step < 5 {
			break
		}
	}
	for i := 0; float64(i)*step <= highest+step/1e6; i++ {
		list = append(list, math.Round(float64(i)*step*1e6)/1e6)
	}
	return list
}

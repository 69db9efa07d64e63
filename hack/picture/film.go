package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// frame is the content of a terminal for some seconds.
type frame struct {
	seconds float64
	caption string
	lines   [][]cell
}

// size returns the number of characters in the frame.
func (f *frame) size() (n int) {
	for _, line := range f.lines {
		n += len(line)
	}
	return n
}

// frameMark begins the line before a frame.
const frameMark = "\f"

// readFrames reads one or several frames. Equal successive frames are merged.
func readFrames(r io.Reader) ([]frame, error) {
	frames := []frame{{}}
	state := look{}
	scanner := bufio.NewScanner(r)
	for first := true; scanner.Scan(); first = false {
		head, isMark := strings.CutPrefix(scanner.Text(), frameMark)
		if !isMark {
			var line []cell
			line, state = parse(scanner.Text(), state)
			last := &frames[len(frames)-1]
			last.lines = append(last.lines, line)
			continue
		}
		seconds, caption, _ := strings.Cut(head, " ")
		duration, err := strconv.ParseFloat(seconds, 64)
		if err != nil {
			return nil, fmt.Errorf("a frame begins with its seconds: %w", err)
		}
		if first {
			frames = nil
		}
		frames, state = append(joinLast(frames), frame{seconds: duration, caption: caption}), look{}
	}
	return joinLast(frames), scanner.Err()
}

// joinLast merges the last two frames if they are equal.
func joinLast(frames []frame) []frame {
	if len(frames) < 2 {
		return frames
	}
	before, last := &frames[len(frames)-2], &frames[len(frames)-1]
	if before.caption != last.caption || !reflect.DeepEqual(before.lines, last.lines) {
		return frames
	}
	before.seconds += last.seconds
	return frames[:len(frames)-1]
}

// renderFilm draws the frames side by side, and moves them past a window. A line that several frames contain is drawn
// once. It needs no script, so that it also moves in an <img>. Readers who prefer reduced motion see the frame with the
// most characters.
func renderFilm(title string, frames []frame) string {
	var all [][]cell
	height, total, still := 0, 0.0, 0
	for i, f := range frames {
		all, height, total = append(all, f.lines...), max(height, heightOf(f.lines)), total+f.seconds
		if f.size() > frames[still].size() {
			still = i
		}
	}
	width := widthOf(title, all)
	var b, steps, strip strings.Builder
	ids := map[string]string{}
	begin(&b, title, width, height)
	passed := 0.0
	b.WriteString("<defs>\n")
	for i, f := range frames {
		fmt.Fprintf(&steps, "%.3f%%{transform:translateX(-%.0fpx)}", passed/total*100, float64(i)*width)
		passed += f.seconds
		fmt.Fprintf(&strip, `<g transform="translate(%.0f)">`, float64(i)*width)
		if f.caption != "" {
			fmt.Fprintf(&strip, `<text x="%.0f" y="22" text-anchor="end" font-weight="bold" fill="#e3b341">%s</text>`, width-margin, html.EscapeString(f.caption))
		}
		for row, line := range f.lines {
			if id := define(&b, ids, line); id != "" {
				fmt.Fprintf(&strip, `<use href="#%s" y="%d"/>`, id, titleBar+margin+row*lineHeight)
			}
		}
		strip.WriteString("</g>\n")
	}
	fmt.Fprintf(&b, "</defs>\n<style>.film{transform:translateX(-%.0fpx);animation:film %.1fs step-end infinite}@keyframes film{%s}", float64(still)*width, total, steps.String())
	b.WriteString("@media (prefers-reduced-motion:reduce){.film{animation:none}}</style>\n")
	fmt.Fprintf(&b, `<svg width="%.0f" height="%d"><g class="film">`+"\n%s</g></svg>\n</g>\n</svg>\n", width, height, strip.String())
	return b.String()
}

// define draws a line unless it is already drawn, and returns its id; "" for an empty line.
func define(b *strings.Builder, ids map[string]string, line []cell) string {
	var drawn strings.Builder
	drawLine(&drawn, line, 0)
	if drawn.Len() == 0 {
		return ""
	}
	id, known := ids[drawn.String()]
	if !known {
		id = "r" + strconv.Itoa(len(ids))
		ids[drawn.String()] = id
		fmt.Fprintf(b, `<g id="%s">%s</g>`+"\n", id, strings.ReplaceAll(drawn.String(), "\n", ""))
	}
	return id
}

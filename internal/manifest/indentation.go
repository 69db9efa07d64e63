package manifest

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// indent returns the spaces and tabs at the start of a line, and the rest.
func indent(line string) (spaces, rest string) {
	rest = strings.TrimLeft(line, " \t")
	return line[:len(line)-len(rest)], rest
}

// openingLines returns earlier lines that start an object or a list, because their indentation may be wrong, too.
func (f *finder) openingLines(near []int) []int {
	var all []int
	for i := slices.Min(append(near, len(f.lines))) - 1; i >= 0 && len(all) < linesBefore; i-- {
		if !isBlank(f.lines[i]) && strings.HasSuffix(strings.TrimRight(f.lines[i], " \r"), ":") {
			all = append(all, i)
		}
	}
	return all
}

// levels returns the indentation of a line, and the columns of the fields after its dashes.
func levels(line string) []int {
	spaces, rest := indent(line)
	all := []int{len(spaces)}
	for strings.HasPrefix(rest, "- ") {
		_, rest = indent(rest[1:])
		all = append(all, len(line)-len(rest))
	}
	return all
}

// possibleWidths returns possible indentations for a line: those of all lines, and one level more than the line before.
func (f *finder) possibleWidths(i int) []int {
	all := []int{0}
	for j, line := range f.lines {
		if !isBlank(line) && j != i {
			all = append(all, levels(line)...)
		}
	}
	slices.Sort(all)
	own := levels(f.lines[i])[0]
	return slices.DeleteFunc(slices.Compact(all), func(width int) bool { return width == own })
}

// findIndentation finds the line with the wrong indentation: the line that, with another indentation, leaves the document in
// the best order.
func (f *finder) findIndentation(lines []int) *mistake {
	var best *mistake
	least := 0
	unit := f.indentUnit()
	for _, i := range lines {
		spaces, rest := indent(f.lines[i])
		for _, width := range f.possibleWidths(i) {
			text := strings.Repeat(" ", width) + rest
			root := f.parse(i, text)
			if root == nil {
				continue
			}
			disorder := 10*emptyFields(root) + f.disorder(i, text, unit)
			if len(spaces) == 0 { // users rarely indent too little at the start of a line
				disorder++
			}
			if best == nil || disorder < least || disorder == least && i+1 < best.line {
				best, least = indentationMistake(i, len(spaces), width), disorder
			}
		}
	}
	return best
}

// steps yields by how many columns each line, with line changed replaced by text, is indented more than the one before it, and
// whether it is an item.
func (f *finder) steps(changed int, text string) iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		last := 0
		for i, line := range f.lines {
			if i == changed {
				line = text
			}
			if isBlank(line) {
				continue
			}
			all := levels(line)
			if !yield(all[0]-last, len(all) > 1) {
				return
			}
			last = all[len(all)-1]
		}
	}
}

// indentUnit returns the most frequent number of spaces per level.
func (f *finder) indentUnit() int {
	times, unit := map[int]int{}, 2
	for by := range f.steps(-1, "") {
		if by > 0 {
			times[by]++
		}
	}
	for by, n := range times {
		if n > times[unit] || n == times[unit] && by < unit {
			unit = by
		}
	}
	return unit
}

// disorder returns how often the indentation changes, with line changed replaced by text. Changes to a deeper level by a
// number of spaces other than unit count more.
func (f *finder) disorder(changed int, text string, unit int) int {
	n := 0
	var lists [2]int // the number of lists that are indented like their field, and more than it
	for by, isItem := range f.steps(changed, text) {
		if by != 0 {
			n++
		}
		if by > 0 && by != unit {
			n += 3
		}
		if isItem && by >= 0 {
			lists[min(by, 1)]++
		}
	}
	return n + min(lists[0], lists[1])
}

func indentationMistake(i, has, needs int) *mistake {
	word := "more"
	if has < needs {
		word = "less"
	}
	fix := "indent it by " + wording.Plural(needs, "space", "spaces")
	if needs == 0 {
		fix = "remove the spaces before it"
	}
	return &mistake{
		line: i + 1, column: has + 1, fix: fix,
		problem: fmt.Sprintf("this line is indented by %s, %d %s than the lines that it belongs to", wording.Plural(has, "space", "spaces"), max(has-needs, needs-has), word),
	}
}

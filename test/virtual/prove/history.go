package prove

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// write stores a violation as a scenario file, and returns the file's name.
func (v *violation) write(dir string, s *smallWorld) (string, error) {
	lines := s.lines(v.path)
	r := s.followed(lines)
	defer r.abandon()
	d := scenario.WithInput(scenario.Command("history"), strings.Join(append([]string{s.name}, lines...), "\n"))
	d.Expected = r.world.Trace()
	name := filepath.Join(dir, strings.ReplaceAll(strings.ReplaceAll(s.name, ",", ""), " ", "-"))
	return name, os.WriteFile(name, []byte(scenario.File(v.what, []*datadriven.TestData{d})), 0o600)
}

// lines returns the steps of a history in the format of the command history.
func (s *smallWorld) lines(path [][]uint8) (lines []string) {
	r := newRun(s, 0)
	defer r.abandon()
	for _, choices := range path {
		steps := r.steps()
		lines = append(lines, line(r.anySteps(), steps[choices[0]], choices[1:]))
		r.take(steps, choices)
	}
	return lines
}

// line formats the chosen step, its number among steps with the same text, and its choices, such as faults.
func line(steps []step, chosen step, choices []uint8) string {
	text, nth := chosen.String(), 1
	for _, s := range steps[:slices.Index(steps, chosen)] {
		if s.String() == text {
			nth++
		}
	}
	if nth > 1 {
		text += fmt.Sprintf(" | #%d", nth)
	}
	last := len(choices)
	for last > 0 && choices[last-1] == 0 {
		last--
	}
	for _, c := range choices[:last] {
		text += fmt.Sprintf(" | %d", c)
	}
	return text
}

// anySteps returns all possible next steps, even if the search would let one process continue first.
func (r *run) anySteps() []step {
	defer func(p sim.Process) { r.going = p }(r.going)
	r.going = sim.Process{}
	return r.steps()
}

// followed runs a history, and then continues to the end or the first violation. It skips steps that are no longer
// possible.
func (s *smallWorld) followed(lines []string) *run {
	r := newRun(s, 0)
	r.lenient = true
	c := r.world.Checker
	c.Untraced, c.CoreEvery = false, 1
	for _, line := range lines {
		r.follow(line)
	}
	for range maxHistory {
		steps := r.anySteps()
		if len(steps) == 0 || len(c.Violations) > 0 {
			break
		}
		r.take(steps, []uint8{0})
	}
	if r.wrongSoFar(); len(r.steps()) > 0 && len(c.Violations) == 0 {
		c.Violate("L1", "the same happens again and again")
	}
	return r
}

// maxHistory exceeds the number of steps until a small world comes to its end.
const maxHistory = 1000

// follow takes the step of a line.
func (r *run) follow(line string) {
	words, steps, nth := strings.Split(line, " | "), r.anySteps(), 1
	choices := []uint8{0}
	for _, word := range words[1:] {
		if n, isNth := strings.CutPrefix(word, "#"); isNth {
			nth = scenario.Number(n)
		} else {
			choices = append(choices, uint8(scenario.Number(word))) // A small number, as it was written.
		}
	}
	for i, s := range steps {
		if s.String() != words[0] {
			continue
		}
		if nth--; nth == 0 {
			r.world.Checker.Tracef("— %s", words[0])
			choices[0] = uint8(i)
			r.take(steps, choices)
			return
		}
	}
	r.world.Checker.Tracef("— not possible: %s", words[0])
}

// narrate returns the trace of a history.
func (s *smallWorld) narrate(path [][]uint8) string {
	r := newRun(s, 0)
	defer r.abandon()
	r.world.Checker.Untraced = false
	r.world.Checker.CoreEvery = 1
	for _, choices := range path {
		steps := r.steps()
		r.world.Checker.Tracef("— %v", steps[choices[0]])
		r.take(steps, choices)
	}
	return r.world.Trace()
}

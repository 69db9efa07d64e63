package storm

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// randomStorm is a world with all its faults, as the commands of a scenario file: a storm that breaks an invariant can
// be stored, and shrunk command by command.
type randomStorm struct {
	seed uint64
	// world is the world command.
	world *datadriven.TestData
	// actions happen at their own times, faults at a call or at the delivery of an event.
	actions, faults []*datadriven.TestData
	// Either jobs are created at once, or the commands in body, from a scenario file, are carried out.
	jobs []stormJob
	file string
	body []*datadriven.TestData
	// dice, if set, draws more faults while the storm is played.
	dice *dice
}

// stormJob is a random Job of a storm.
type stormJob struct {
	name string
	*model.Case
}

// played is the result of a storm.
type played struct {
	// broken holds the violations and panics.
	broken                 []string
	steps, jobs, processes uint64
	elapsed                time.Duration
	// faults holds the faults that the dice drew.
	faults []*datadriven.TestData
	// kinds counts faults and actions by kind.
	kinds map[string]uint64
	trace string
}

// invariant returns the id of the first broken invariant.
func (p played) invariant() string {
	if len(p.broken) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(p.broken[0], ": ")
	return name[strings.LastIndex(name, " ")+1:]
}

// commands returns the scenario file of the storm. With prepared, it adds the Jobs to that map instead of writing them as YAML,
// which would be a fifth of a storm's cost.
func (s *randomStorm) commands(prepared map[*datadriven.TestData]*batchv1.Job) []*datadriven.TestData {
	out := slices.Concat([]*datadriven.TestData{s.world}, s.faults, s.actions, s.body)
	for _, job := range s.jobs {
		create := scenario.Command("job", "job="+job.name)
		if prepared != nil {
			prepared[create] = job.Job()
		} else {
			create.Input = manifest(job.Job())
		}
		out = append(append(out, caseCommands(job)...), create)
	}
	return append(out, calm()...)
}

// calm returns the commands for the quiet time after a storm.
func calm() []*datadriven.TestData {
	return []*datadriven.TestData{scenario.Command("run", "for=5m"), scenario.Command("fault", "kind=none"), scenario.Command("run", "for=2h"), scenario.Command("settle")}
}

// closeLook is n if one in n storms checks S10 at every write, which is slow.
const closeLook = 16

// play plays the storm.
func (s *randomStorm) play(t *testing.T) played {
	prepared := map[*datadriven.TestData]*batchv1.Job{}
	return s.playCommands(t, s.commands(prepared), prepared, false)
}

// playCommands carries out the commands of a storm. With traced, it keeps their output.
func (s *randomStorm) playCommands(t *testing.T, commands []*datadriven.TestData, prepared map[*datadriven.TestData]*batchv1.Job, traced bool) (out played) {
	out.kinds = map[string]uint64{}
	every := scenario.SweepCore
	if traced || s.seed%closeLook == 0 {
		every = 1
	}
	w := &scenario.Runner{Prepared: prepared, Checks: checker.Checks{CoreEvery: every, Untraced: !traced}}
	if s.dice != nil {
		s.dice.thrown(w, &out)
	}
	defer func() {
		if r := recover(); r != nil {
			out.broken = append(out.broken, fmt.Sprintf("0.000s panic: %v\n%s", r, debug.Stack()))
		}
		out.note(w.World)
	}()
	for _, d := range commands {
		text := w.Run(t, d)
		if kind := troubleKind(d); kind != "" {
			out.kinds[kind]++
		}
		if traced {
			d.Expected = text
			if !d.HasArg("call") && !d.HasArg("event") {
				out.trace += "> " + d.Cmd + "\n" + text
			}
		}
		if d.Cmd == "settle" && strings.Contains(text, "writes while nothing happened") {
			out.broken = append(out.broken, "0.000s L3: "+text)
		}
	}
	return out
}

// troubleKind returns the ledger's name for a command's effect on a Job or its controller, or "".
func troubleKind(d *datadriven.TestData) string {
	switch d.Cmd {
	case "world", "run", "settle", "script", "job", "finalize":
		return ""
	case "fault", "watch-fault":
		if !d.HasArg("verb") {
			return ""
		}
		return "faults of a verb for a while"
	}
	return d.Cmd
}

// note counts a finished world.
func (p *played) note(w *checker.World) {
	if w == nil {
		return
	}
	p.steps += w.Steps()
	p.processes += uint64(w.Started())
	p.elapsed += w.Elapsed()
	p.broken = append(slices.Clone(w.Checker.Violations), p.broken...)
	p.jobs += uint64(len(w.Checker.Order))
}

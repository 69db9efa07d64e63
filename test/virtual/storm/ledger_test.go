package storm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// ledger holds the results of random storms, one entry per run.
type ledger struct {
	Runs []entry `json:"runs"`
}

// entry is one run of random storms.
type entry struct {
	Commit string `json:"commit,omitempty"`
	Go     string `json:"go"`
	// FirstSeed is the seed of the first world; the others follow it.
	FirstSeed uint64 `json:"firstSeed"`
	Worlds    uint64 `json:"worlds"`
	// Steps is the number of events in all worlds.
	Steps uint64 `json:"steps"`
	// Years is the virtual time of all worlds.
	Years float64 `json:"simulatedYears"`
	Jobs  uint64  `json:"jobs"`
	// Trouble counts faults of calls and watches, and actions, by kind.
	Trouble    map[string]uint64 `json:"trouble"`
	Violations uint64            `json:"violations"`
	CPUHours   float64           `json:"cpuHours"`
}

func newEntry(first uint64) entry {
	return entry{Commit: *stormCommit, Go: runtime.Version(), FirstSeed: first, Trouble: map[string]uint64{}}
}

// add counts a world. Several violations in a world count as one.
func (e *entry) add(p played) {
	e.Worlds++
	e.Steps += p.steps
	e.Years += p.elapsed.Hours() / 24 / 365
	e.Jobs += p.jobs
	if len(p.broken) > 0 {
		e.Violations++
	}
	for kind, n := range p.kinds {
		e.Trouble[kind] += n
	}
}

func (e *entry) short() string {
	return fmt.Sprintf("%d worlds, %.1f million steps, %.1f years, %d violations", e.Worlds, float64(e.Steps)/1e6, e.Years, e.Violations)
}

func (e *entry) trouble() (n uint64) {
	for _, of := range e.Trouble {
		n += of
	}
	return n
}

// String returns a summary of a run.
func (e *entry) String() string {
	out := fmt.Sprintf("%s\nseeds %d to %d, %d Jobs, %.2f CPU hours\n%d faults and actions:\n",
		e.short(), e.FirstSeed, e.FirstSeed+e.Worlds-1, e.Jobs, e.CPUHours, e.trouble())
	for _, kind := range slices.Sorted(maps.Keys(e.Trouble)) {
		out += fmt.Sprintf("%10d %s\n", e.Trouble[kind], kind)
	}
	return out
}

// readLedger reads a ledger; a missing file is an empty ledger.
func readLedger(t *testing.T, file string) (l ledger) {
	if file == "" {
		return l
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return l
	}
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	assert.NoError(t, err)
	return l
}

// nextSeed returns the first seed that no run has played. The first seeds are played by every test run.
func (l ledger) nextSeed() uint64 {
	next := uint64(shortStorms)
	for _, e := range l.Runs {
		next = max(next, e.FirstSeed+e.Worlds)
	}
	return next
}

func (l ledger) write(t *testing.T, file string) {
	if file == "" {
		return
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, append(text, '\n'), 0o600))
	}
	assert.NoError(t, err)
}

// total returns the sums shown in the ledger's table.
func (l ledger) total() entry {
	sum := newEntry(0)
	for _, e := range l.Runs {
		sum.Worlds, sum.Steps, sum.Years, sum.Violations = sum.Worlds+e.Worlds, sum.Steps+e.Steps, sum.Years+e.Years, sum.Violations+e.Violations
		sum.Jobs, sum.CPUHours = sum.Jobs+e.Jobs, sum.CPUHours+e.CPUHours
		for kind, n := range e.Trouble {
			sum.Trouble[kind] += n
		}
	}
	return sum
}

// markdown returns the table for docs/internals/proof/storms.md.
func (l ledger) markdown() string {
	var b strings.Builder
	b.WriteString("| commit | seeds | worlds | steps | simulated years | Jobs | faults and actions | violations | CPU hours |\n|---|---|---|---|---|---|---|---|---|\n")
	row := func(name, seeds string, e entry) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.0f | %s | %s | %d | %.2f |\n", name, seeds,
			thousands(e.Worlds), thousands(e.Steps), e.Years, thousands(e.Jobs), thousands(e.trouble()), e.Violations, e.CPUHours)
	}
	for _, e := range l.Runs {
		row("`"+e.Commit[:min(8, len(e.Commit))]+"`", fmt.Sprintf("%d to %d", e.FirstSeed, e.FirstSeed+e.Worlds-1), e)
	}
	sum := l.total()
	row("all", "", sum)
	b.WriteString("\n| what went wrong | how often |\n|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(sum.Trouble)) {
		fmt.Fprintf(&b, "| %s | %s |\n", kind, thousands(sum.Trouble[kind]))
	}
	return b.String()
}

// thousands formats a number with commas.
func thousands(n uint64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// ledgerFile is the ledger shown in docs/internals/proof/storms.md.
const ledgerFile = "testdata/ledger.json"

// TestDocumentationHasTheLedger compares the tables in docs/internals/proof/storms.md with the ledger; -rewrite updates
// them.
// Requirements: STO-05
func TestDocumentationHasTheLedger(t *testing.T) {
	goldenfile.CompareSection(t, "../../../docs/internals/proof/storms.md", "<!-- ledger -->", "<!-- end of the ledger -->", readLedger(t, ledgerFile).markdown())
}

// A run continues with the first seed after the ledger's, and adds an entry of its own, with the storms that ended before a signal.
// Requirements: STO-03
func TestEverySeedIsPlayedOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.json")
	signals := []syscall.Signal{0, syscall.SIGINT, syscall.SIGTERM} // The first run has none: it ends by itself.
	for _, sig := range signals {
		s := &stormRun{files: stormFiles(t)}
		s.playLedger(t, file, 2, func() bool {
			if sig != 0 && s.next.Load() == 3 {
				scenario.Must(syscall.Kill(os.Getpid(), sig))
			}
			return sig != 0 || s.next.Load() < 3
		})
		if l := readLedger(t, file); l.Runs[len(l.Runs)-1].Worlds != s.next.Load() {
			t.Errorf("signal %d after %d storms: %+v", sig, s.next.Load(), l.Runs)
		}
	}
	l, next := readLedger(t, file), uint64(shortStorms)
	for _, e := range l.Runs {
		if e.FirstSeed != next || e.Worlds < 3 || e.Steps < e.Worlds || e.Jobs == 0 || e.Years <= 0 {
			t.Errorf("%+v, want it to begin at seed %d", e, next)
		}
		next += e.Worlds
	}
	if sum := l.total(); len(l.Runs) != len(signals) || l.nextSeed() != next || sum.Steps < l.Runs[0].Steps+l.Runs[1].Steps {
		t.Errorf("%d runs, next %d, %+v", len(l.Runs), l.nextSeed(), sum)
	}
}

package prove

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

var (
	proveAll    = flag.Bool("prove", false, "explore all small worlds but the vast ones, not only the short ones")
	proveOnly   = flag.String("prove-only", "", "explore only small worlds whose names match a regular expression, also long ones; it has to match all of the name of a vast one")
	proveTime   = flag.Duration("prove-time", 0, "explore each small world for so long at most, and then try random histories for as long; 0 for no limit")
	proveStates = flag.Int("prove-states", 20_000_000, "explore so many states of each small world at most")
	proveDir    = flag.String("prove-dir", "", "a folder for what was explored, so that another run continues, and for histories")
	historyFile = flag.String("history", "", "replay a history that -prove has stored")
)

// TestProve explores every history of small worlds: each is safe (PRV-01), and from each state the Job
// reaches its intended outcome (PRV-02).
func TestProve(t *testing.T) {
	only := regexp.MustCompile(*proveOnly)
	for _, s := range allWorlds() {
		skipped := !*proveAll && *proveOnly == "" && !s.isShort() || s.size == vast && only.FindString(s.name) != s.name
		if skipped || !only.MatchString(s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) { prove(t, s) })
	}
}

// isShort reports whether every test run explores the world; with -short, or under the race detector, only the smallest
// one.
func (s *smallWorld) isShort() bool {
	if testing.Short() || scenario.UnderRace {
		return s.name == plainWorlds()[0].name
	}
	return s.short
}

func prove(t *testing.T, s *smallWorld) {
	l := limits{states: *proveStates}
	if *proveTime > 0 {
		l.until = time.Now().Add(*proveTime)
	}
	if *proveDir != "" {
		l.file = filepath.Join(*proveDir, strings.ReplaceAll(s.name, " ", "-")+".states")
	}
	begun := time.Now()
	x := newSearch(s, l)
	x.explore(runtime.GOMAXPROCS(0))
	walks := ""
	if !x.complete() && x.violation == nil {
		walks = fmt.Sprintf(", %d random histories", x.walk(time.Now().Add(*proveTime), runtime.GOMAXPROCS(0)))
	}
	t.Logf("%v%s, %.1f s", x, walks, time.Since(begun).Seconds())
	v := x.violation
	if v == nil {
		if most := s.size.most(); s.maxFaults == 0 && len(x.nodes) > most {
			t.Errorf("%s has %d states, and %d at most by its size", s.name, len(x.nodes), most)
		}
		return
	}
	t.Errorf("%s: %s\n%s", s.name, v.what, s.narrate(v.path))
	if *proveDir != "" {
		file, err := v.write(*proveDir, s)
		t.Logf("replay it with -history %s, and copy it to test/virtual/prove/testdata/histories to keep it (%v)", file, err)
	}
}

// TestHistories runs the histories in files, kept ones and one that was just stored, in their small worlds. Update the
// output with
// -rewrite, and review the diff.
func TestHistories(t *testing.T) {
	if *historyFile != "" {
		datadriven.RunTest(t, *historyFile, playHistory)
		return
	}
	datadriven.Walk(t, "testdata/histories", func(t *testing.T, path string) { datadriven.RunTest(t, path, playHistory) })
}

// playHistory runs a small world, named in the first line of the input, through a history that the model checker found.
func playHistory(t *testing.T, d *datadriven.TestData) string {
	lines := strings.Split(strings.TrimSpace(d.Input), "\n")
	worlds := allWorlds()
	at := slices.IndexFunc(worlds, func(w *smallWorld) bool { return w.name == lines[0] })
	if d.Cmd != "history" || at < 0 {
		d.Fatalf(t, "%s: there is no small world %q", d.Cmd, lines[0])
	}
	r := worlds[at].followed(lines[1:])
	defer r.abandon()
	if broken := r.world.Checker.Violations; len(broken) > 0 {
		t.Errorf("%s: broken invariants:\n%s", d.Pos, strings.Join(broken, "\n"))
	}
	return r.world.Trace()
}

func TestMain(m *testing.M) { scenario.Main(m) }

package storm

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

var (
	stormTime    = flag.Duration("storm-time", 0, "how long to play random storms")
	stormSteps   = flag.Uint64("storm-steps", 0, "play random storms until they have taken this many steps")
	stormWorkers = flag.Int("storm-workers", 2, "how many random storms to play at once")
	stormSeed    = flag.Int64("storm-seed", -1, "play only the random storm of that seed, and shrink it")
	stormLedger  = flag.String("storm-ledger", "", "the ledger file; storms continue after its last seed")
	stormFound   = flag.String("storm-found", "", "the folder for scenario files of what breaks an invariant")
	stormCommit  = flag.String("storm-commit", "", "the commit under test, for the ledger")
)

// shortStorms is the number of random storms in every test run, always with the same seeds.
const shortStorms = 1500

// TestRandomStorms plays storms with fixed seeds, so that the result of CI depends on the
// code alone. TestEndlessStorms continues from there.
// Requirements: STO-01
func TestRandomStorms(t *testing.T) {
	s := &stormRun{files: stormFiles(t), most: scenario.FewerSeeds(shortStorms), entry: newEntry(0)}
	s.play(t.Context(), t, 2, func() bool { return true })
	t.Log(s.entry.String())
	assert.Equal(t, s.entry.Worlds, s.most, "played")
}

// TestEndlessStorms plays random storms for a given time, each seed once in the life of a ledger.
//
//	make storm STORM_TIME=8h
//
// Requirements: STO-03
func TestEndlessStorms(t *testing.T) {
	if *stormSeed >= 0 {
		s := &stormRun{files: stormFiles(t), entry: newEntry(uint64(*stormSeed))}
		s.one(t.Context(), t, uint64(*stormSeed))
		return
	}
	if *stormTime == 0 && *stormSteps == 0 {
		t.Skip("without -storm-time and -storm-steps")
	}
	s := &stormRun{files: stormFiles(t)}
	begun := time.Now()
	stop := make(chan struct{})
	go s.progress(stop)
	s.playLedger(t, *stormLedger, *stormWorkers, func() bool {
		return (*stormTime == 0 || time.Since(begun) < *stormTime) && (*stormSteps == 0 || s.steps() < *stormSteps)
	})
	close(stop)
	fmt.Println(s.entry.String())
}

// playLedger plays storms while more returns true, or until SIGINT or SIGTERM, and adds the completed storms to a
// ledger. A second signal ends the program at once.
func (s *stormRun) playLedger(t *testing.T, file string, workers int, more func() bool) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	known := readLedger(t, file)
	s.mu.Lock()
	s.entry = newEntry(known.nextSeed())
	s.mu.Unlock()
	s.play(ctx, t, workers, func() bool { return ctx.Err() == nil && more() })
	s.entry.CPUHours = scenario.CPUSeconds() / 3600
	known.Runs = append(known.Runs, s.entry)
	known.write(t, file)
}

// stormRun plays many storms.
type stormRun struct {
	files []stormFile
	// most is the largest number of storms to play, 0 for no limit.
	most uint64
	// next is the number of the next storm, from 0.
	next atomic.Uint64

	mu    sync.Mutex
	entry entry
}

func (s *stormRun) steps() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entry.Steps
}

// play plays storms while more returns true. The seeds of the played storms have no gap.
func (s *stormRun) play(ctx context.Context, t *testing.T, workers int, more func() bool) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for more() {
				n := s.next.Add(1) - 1
				if s.most > 0 && n >= s.most {
					return
				}
				s.one(ctx, t, s.entry.FirstSeed+n)
			}
		})
	}
	all.Wait()
}

// one plays a storm, and shrinks it if it breaks an invariant, until ctx is done.
func (s *stormRun) one(ctx context.Context, t *testing.T, seed uint64) {
	storm := newStorm(seed, s.files)
	out := storm.play(t)
	s.mu.Lock()
	s.entry.add(out)
	found := s.entry.Violations
	s.mu.Unlock()
	if len(out.broken) == 0 {
		return
	}
	if found > maxFound {
		t.Errorf("seed %d: %s", seed, out.broken[0])
		return
	}
	s.report(t, shrink(ctx, t, storm, out), out)
}

// maxFound is the number of violations per run that are shrunk.
const maxFound = 20

// report writes the scenario file of a violation, or prints it.
func (s *stormRun) report(t *testing.T, small *randomStorm, out played) {
	commands := small.commands(nil)
	small.playCommands(t, commands, nil, true)
	first, _, _ := strings.Cut(out.broken[0], "\n")
	text := scenario.File(fmt.Sprintf("Found by the random storm of seed %d (%s): %s", small.seed, small.file, first), commands)
	if *stormFound == "" {
		t.Errorf("seed %d: %s\n%s", small.seed, out.broken[0], text)
		return
	}
	name := filepath.Join(*stormFound, fmt.Sprintf("%s-%d", strings.ToLower(out.invariant()), small.seed))
	assert.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	t.Errorf("seed %d: %s: it is in %s", small.seed, first, name)
}

// progress prints the progress of the run.
func (s *stormRun) progress(stop <-chan struct{}) {
	begun := time.Now()
	for tick := time.NewTicker(5 * time.Second); ; {
		select {
		case <-stop:
			tick.Stop()
			return
		case <-tick.C:
			s.mu.Lock()
			e := s.entry
			s.mu.Unlock()
			fmt.Fprintf(os.Stderr, "%8v  %s, %.0f steps/s, %.0f per second of CPU\n", time.Since(begun).Round(time.Second), e.short(),
				float64(e.Steps)/time.Since(begun).Seconds(), float64(e.Steps)/scenario.CPUSeconds())
		}
	}
}

func TestMain(m *testing.M) { scenario.Main(m) }

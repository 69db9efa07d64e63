// Package soak lives through crashes, fail-overs and a cluster in trouble, on the cluster of package testcluster: `make soak` and
// `make soak-short`. docs/internals/proof/soak.md says what it found. The tests have the build tag soak: they take long, and are
// deliberate load.
package soak

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/troubles"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The pace of a soak, chosen for two cores. A soak is deliberate load in real time, so only here tests depend on the
// clock.
const (
	// The intervals between new Jobs, unless there are enough, and between user actions.
	jobEvery, deedEvery = 500 * time.Millisecond, 400 * time.Millisecond
	mostJobs            = 60
	// How long a namespace takes new Jobs. When all its objects are gone, it is audited, and its history is dropped.
	namespaceFor = time.Minute
	// Finished Jobs are deleted after this time.
	keepFinished = 8 * time.Second
	// The interval between kills of a controller. Every third time it gets SIGTERM; every fifth time it restarts only
	// after stayAway.
	killEvery, stayAway = 30 * time.Second, 10 * time.Second
	// The longest duration of the warm-up.
	warmUp = 2 * time.Minute
	// The idle time of the controller that is never killed before it is measured.
	quiet = 30 * time.Second
	// The time after the last creation by which all Jobs have ended.
	windDown = 10 * time.Minute
	// Jobs of the built-in controller that have not ended this long after their namespace was opened are deleted, and
	// reported: the controller of 1.37.1 can wait forever for its own cache ("read version … is not as new as written
	// version …").
	stalledAfter = 5 * time.Minute
	// A trouble lasts for 0.5 to 1.5 times troubleLasts, and follows a pause of less than troublePause.
	troubleLasts, troublePause = 10 * time.Second, 30 * time.Second
)

// soakName is the managedBy value of the controllers that are killed. The shared controller, which is never killed, runs
// Jobs with the default value.
const soakName = "e2e.batchjob.dev/soak"

var (
	cluster *testcluster.Cluster
	client  kubernetes.Interface
	past    *chronicle
)

// soak is one soak run.
type soak struct {
	t       *testing.T
	started time.Time
	// cook draws Jobs, user the actions on them, and dice troubles, all from the seed: each draws the same numbers
	// whatever the cluster does with its decisions.
	seed             uint64
	cook, user, dice *rand.Rand
	created          int
	// hurried reports whether Jobs that have not ended when the last was created are deleted.
	hurried bool
	// done counts user actions.
	done      map[string]int
	failovers int
	// stalled counts the Jobs that the built-in controller did not continue.
	stalled     int
	spaces      []*space
	controllers *controllers
	steady      *testcluster.Process
	disturber   *disturber
	ledger      *troubles.Ledger
	holders     *troubles.Holders
	tally       *tally
	traces      string
}

// end ends the controllers that are killed.
func (s *soak) end() {
	s.checkHolders()
	s.controllers.stop()
	s.failovers = s.controllers.failovers()
}

// missing returns the events that a sufficiently long soak should have had, but has not.
func (s *soak) missing() []string {
	missing := cluster.Territory().Missing()
	for kind := range recipes() {
		if s.tally.ends[kind] == nil {
			missing = append(missing, "Jobs of the kind "+kind)
		}
	}
	if s.controllers.killed == 0 || s.controllers.ended == 0 || s.failovers == 0 {
		missing = append(missing, "a crash, an orderly end, and a fail-over")
	}
	return append(missing, s.ledger.Unfelt(s.disturber.chosen)...)
}

func lastsFor(t *testing.T) time.Duration {
	lasts, err := time.ParseDuration(cmp.Or(os.Getenv("SOAK_TIME"), "20m"))
	assert.NoError(t, err, "SOAK_TIME")
	return lasts
}

func newSoak(t *testing.T) *soak {
	seed := rand.Uint64()
	if text := os.Getenv("SOAK_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SOAK_SEED: %v", err)
		}
	}
	traces, err := os.MkdirTemp("", "batchjob-soak-")
	assert.NoError(t, err)
	s := &soak{
		t: t, started: time.Now(), seed: seed, done: map[string]int{}, cook: cook(seed), user: user(seed), dice: dice(seed),
		steady: cluster.Launched()[0], ledger: troubles.NewLedger(time.Now), holders: troubles.NewHolders(), tally: newTally(), traces: traces,
	}
	s.disturber = newDisturber(s)
	s.controllers = newControllers(t, s.disturber.kubeconfig, s.ledger.Calm)
	s.say("SOAK_SEED=%d repeats these decisions", seed)
	return s
}

func cook(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
func user(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }
func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }

// say prints progress immediately; go test shows it with -v.
func (s *soak) say(format string, args ...any) {
	fmt.Printf("soak %v: %s\n", time.Since(s.started).Round(time.Second), fmt.Sprintf(format, args...))
}

// season runs Jobs with user actions, crashes and troubles, and waits until all end. Half of the time one controller
// runs, and half of it two that elect a leader.
func (s *soak) season(name string, lasts time.Duration) {
	s.say("%s, %v", name, lasts)
	s.work(time.After(lasts/2), func() { s.disturber.disturb(lasts) })
	s.finish()
}

// work creates Jobs, with user actions and crashes, while disturb runs.
func (s *soak) work(half <-chan time.Time, disturb func()) {
	s.controllers.work(1)
	jobs, deeds, chores := time.Tick(jobEvery), time.Tick(deedEvery), time.Tick(time.Second)
	samples, minutes := time.Tick(10*time.Second), time.Tick(time.Minute)
	over := make(chan struct{})
	go func() {
		defer close(over)
		disturb()
	}()
	for {
		select {
		case <-jobs:
			s.createJob()
		case <-deeds:
			s.doDeed()
		case <-chores:
			s.chores()
		case <-samples:
			s.tally.sample(s.size())
		case <-minutes:
			s.say("%d Jobs, %d of them now; %d kills", s.created, s.alive(), s.controllers.kills())
		case <-half:
			s.controllers.work(2)
		case <-over:
			s.controllers.rest()
			s.say("no more Jobs")
			s.untilHeld()
			return
		}
	}
}

// finish waits until all Jobs have ended and are gone, and every namespace is audited.
func (s *soak) finish() {
	for _, space := range s.spaces {
		space.closed = true
	}
	look, minutes, deadline := time.Tick(time.Second), time.Tick(time.Minute), time.After(windDown)
	for len(s.spaces) > 0 {
		select {
		case <-look:
			s.chores()
		case <-minutes:
			now := past.now(s.spaces[0].name)
			s.say("waiting for %d Jobs and %d pods in %s", len(now.jobs), len(now.pods), s.spaces[0].name)
		case <-deadline:
			for _, space := range s.spaces {
				s.t.Errorf("in %s there is still, after %v (%s): %v", space.name, windDown, s.keep(space), past.now(space.name))
				s.audit(space)
			}
			s.t.FailNow()
		}
	}
}

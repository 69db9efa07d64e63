//go:build soak

package soak

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/troubles"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestMain(m *testing.M) {
	os.Exit(testcluster.Run("soak", "1", begin, func(*testcluster.Cluster) int { return m.Run() }))
}

// Jobs of every kind survive user actions, crashes and failovers for SOAK_TIME: each ends as it should, nothing is left
// over, the built-in controller and ours keep to their own Jobs, and a controller that runs all the time does not grow
// (JOB-56, TRK-03, TRK-20, MGB-01, MGB-05, STV-25, PRP-24). Meanwhile, the cluster has troubles (SOK-01 to SOK-05).
func TestSoak(t *testing.T) {
	s := newSoak(t)
	lasts := lastsFor(t)
	s.season("warm-up", min(warmUp, lasts/4))
	before := s.measure("the beginning")
	s.season("main", lasts)
	after := s.noGrowth(before)
	s.end()
	s.tally.answers(t)
	s.tally.print(s, before, after)
	if missing := s.missing(); len(missing) > 0 && lasts >= warmUp {
		t.Errorf("not tried: %q", missing)
	}
	if most := s.tally.pods / 20; cluster.Excused() > most {
		t.Errorf("%d violations are excused, more than one for 20 pods: no cluster is that bad", cluster.Excused())
	}
}

// The same seed draws the same Jobs and actions, and another seed draws others (JOB-56).
func TestSoakRepeatsItsDecisions(t *testing.T) {
	decisions := func(seed uint64) string {
		var b strings.Builder
		jobs, deeds := cook(seed), user(seed)
		for range 200 {
			assert.NoError(t, json.NewEncoder(&b).Encode(nextJob(jobs)))
			fmt.Fprintln(&b, nextDeed(deeds))
		}
		return b.String()
	}
	if one := decisions(1); one != decisions(1) || one == decisions(2) {
		t.Error("the decisions do not follow from the seed")
	}
}

// Each trouble occurs once, for a short while, and has an effect. Jobs of every kind run through all of them; Jobs that
// have not ended afterward are deleted, so that the test does not wait for retries (SOK-01, SOK-02, SOK-04).
func TestTroubles(t *testing.T) {
	s := newSoak(t)
	s.work(nil, func() {
		for _, trouble := range s.disturber.chosen {
			pause(t.Context(), time.Second)
			s.live(troubles.Event{Trouble: trouble, Lasts: 3 * time.Second})
		}
	})
	s.hurried = true
	s.finish()
	s.end()
	s.tally.answers(t)
	s.tally.print(s, size{}, size{})
	if unfelt := s.ledger.Unfelt(s.disturber.chosen); len(unfelt) > 0 {
		t.Errorf("nobody has felt %q", unfelt)
	}
}

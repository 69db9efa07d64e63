package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// tally counts events for the summary.
type tally struct {
	// ends counts the Jobs of each kind by outcome.
	ends           map[string]map[string]int
	pods, versions int
	codes          map[string]int
	most           size
}

func newTally() *tally { return &tally{ends: map[string]map[string]int{}, codes: map[string]int{}} }

// add adds the history of a namespace.
func (y *tally) add(versions []history.Version) {
	jobs, pods := map[types.UID]*batchv1.Job{}, map[types.UID]bool{}
	for _, v := range versions {
		if v.Job != nil {
			jobs[v.Job.UID] = v.Job
		} else {
			pods[v.Pod.UID] = true
		}
	}
	for _, job := range jobs {
		kind := job.Labels[kindLabel]
		if y.ends[kind] == nil {
			y.ends[kind] = map[string]int{}
		}
		y.ends[kind][endOf(job)]++
	}
	y.pods += len(pods)
	y.versions += len(versions)
}

func endOf(job *batchv1.Job) string {
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if c := history.Condition(job, t); c != nil {
			return c.Reason
		}
	}
	return "Deleted"
}

// sample records the size of the controller while it works.
func (y *tally) sample(z size) {
	y.most = size{max(y.most.goroutines, z.goroutines), max(y.most.alloc, z.alloc), max(y.most.inuse, z.inuse), max(y.most.resident, z.resident)}
}

// answers reads from the API server the results of all status writes since its start.
func (y *tally) answers(t *testing.T) {
	codes, err := cluster.Answers(t.Context())
	if err != nil {
		t.Error(err)
	}
	for code, n := range codes {
		y.codes[code] += n
	}
}

// print prints the summary on one screen.
func (y *tally) print(s *soak, before, after size) {
	var b strings.Builder
	fmt.Fprintf(&b, "\nsoak of %v, SOAK_SEED=%d\n\n", time.Since(s.started).Round(time.Second), s.seed)
	for _, kind := range slices.Sorted(maps.Keys(y.ends)) {
		total, parts := 0, []string{}
		for _, end := range slices.Sorted(maps.Keys(y.ends[kind])) {
			total += y.ends[kind][end]
			parts = append(parts, fmt.Sprintf("%s %d", end, y.ends[kind][end]))
		}
		fmt.Fprintf(&b, "  %-15s %4d Jobs: %s\n", kind, total, strings.Join(parts, ", "))
	}
	fmt.Fprintf(&b, "\n  Jobs           %v\n", cluster.Territory())
	if s.stalled > 0 {
		fmt.Fprintf(&b, "  stalled        %d Jobs of the built-in controller, deleted after %v\n", s.stalled, stalledAfter)
	}
	fmt.Fprintf(&b, "  history        %d pods, %d versions of Jobs and pods\n", y.pods, y.versions)
	fmt.Fprintf(&b, "  excused        %d violations: kube-controller-manager released a pod, or a creation waited\n", cluster.Excused())
	fmt.Fprintf(&b, "  deeds          %s\n", y.deedText(s))
	fmt.Fprintf(&b, "  controllers    %d killed, %d asked to end, %d times away for %v, %d fail-overs\n", s.controllers.killed, s.controllers.ended, s.controllers.away, stayAway, s.failovers)
	fmt.Fprintf(&b, "  status writes  %d stored, %d conflicts, %d rejected\n", y.codes["200"], y.codes["409"], y.codes["422"])
	if before != after { // They were measured.
		fmt.Fprintf(&b, "  at first       %v\n  at last        %v\n", before, after)
	}
	fmt.Fprintf(&b, "  at most        %v\n", y.most)
	fmt.Fprintf(&b, "  shards         without a holder for %v at most, outages aside\n\n%v", s.holders.Longest(), s.ledger)
	fmt.Println(b.String())
}

func (y *tally) deedText(s *soak) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(s.done)) {
		parts = append(parts, fmt.Sprintf("%s %d", what, s.done[what]))
	}
	return strings.Join(parts, ", ")
}

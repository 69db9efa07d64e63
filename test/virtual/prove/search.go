package prove

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// node is a state that was reached from its parent by choices.
type node struct {
	Print  fingerprint
	Parent int32
	// Next is the following state in the default schedule, or unexplored or atRest.
	Next    int32
	Choices [maxChoices]uint8
	// Since is the depth from which on its carriers are hashed.
	Since, Depth uint16
}

// maxChoices exceeds the number of choices of any step.
const maxChoices = 8

const (
	// unexplored is the Next of a node that has not been expanded, atRest of a correct final state.
	unexplored int32 = -2
	atRest     int32 = -1
)

// search is the exploration of a small world. It starts breadth first, so that an early violation has the shortest
// history. The rest is explored depth first, which is faster: the run in the state to expand next usually still exists.
type search struct {
	*smallWorld
	mu    sync.Mutex
	nodes []node
	ids   map[fingerprint]int32
	// pending holds the nodes to expand, busy is the number of nodes being expanded, at depth.
	pending     []int32
	busy        int
	depth       uint16
	changed     *sync.Cond
	transitions int
	violation   *violation
	live        liveRuns
	limits
}

// limits are the conditions that end a search early, and the file from which another search can continue.
type limits struct {
	states int
	until  time.Time
	file   string
	saved  time.Time
}

// violation is a history that leads to a violation.
type violation struct {
	path [][]uint8
	what string
}

func newSearch(s *smallWorld, l limits) *search {
	x := &search{smallWorld: s, ids: map[fingerprint]int32{}, live: liveRuns{of: map[int32]*run{}}, limits: l}
	x.changed = sync.NewCond(&x.mu)
	if x.load() {
		return x
	}
	x.add(newRun(s, 0), 0, nil)
	return x
}

// add returns the id of the run's state, adding a node if it is new. It takes ownership of the run.
func (x *search) add(r *run, parent int32, choices []uint8) int32 {
	n := node{Print: r.fingerprint(), Parent: parent, Next: unexplored, Depth: uint16(r.depth), Since: uint16(r.depth)}
	for _, c := range r.carriers {
		n.Since = min(n.Since, uint16(c.begun.depth))
	}
	if len(choices) > maxChoices {
		panic("too many choices in one step")
	}
	copy(n.Choices[:], choices)
	x.mu.Lock()
	defer x.mu.Unlock()
	if id, known := x.ids[n.Print]; known {
		r.abandon()
		return id
	}
	id := int32(len(x.nodes))
	x.live.keep(id, r, x.isWide())
	x.nodes, x.pending, x.ids[n.Print] = append(x.nodes, n), append(x.pending, id), id
	x.changed.Broadcast()
	return id
}

// path returns the choices that lead to a node.
func (x *search) path(id int32) (path [][]uint8) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for ; id != 0; id = x.nodes[id].Parent {
		path = append(path, slices.Clone(x.nodes[id].Choices[:]))
	}
	slices.Reverse(path)
	return path
}

// replayed returns a run after the choices of a path.
func (s *smallWorld) replayed(path [][]uint8, since int) *run {
	r := newRun(s, since)
	for _, choices := range path {
		r.take(r.steps(), choices)
	}
	return r
}

// explore explores until all states are expanded, a violation is found, or a limit is reached.
func (x *search) explore(workers int) {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for id := x.begin(); id >= 0; id = x.begin() {
				x.expand(id)
				x.end()
			}
		})
	}
	group.Wait()
	x.live.abandon()
	x.save()
	x.checkLiveness()
}

// isWide reports whether the search is still breadth first.
func (x *search) isWide() bool {
	const widest = 20_000
	return len(x.nodes) < widest
}

// begin returns the next node to expand, or -1.
func (x *search) begin() int32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.busy > 0 && (len(x.pending) == 0 || x.saveDue() || x.isWide() && x.nodes[x.pending[0]].Depth > x.depth) {
		x.changed.Wait()
	}
	if x.saveDue() {
		x.save()
	}
	if len(x.pending) == 0 || x.violation != nil || x.limited() {
		return -1
	}
	x.busy++
	return x.take()
}

// take removes and returns the next pending node.
func (x *search) take() (id int32) {
	if last := len(x.pending) - 1; !x.isWide() {
		id, x.pending = x.pending[last], x.pending[:last]
		return id
	}
	id, x.pending = x.pending[0], x.pending[1:]
	x.depth = x.nodes[id].Depth
	return id
}

func (x *search) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.busy--
	x.changed.Broadcast()
}

func (x *search) limited() bool {
	return x.states > 0 && len(x.nodes) >= x.states || !x.until.IsZero() && time.Now().After(x.until)
}

// expand takes every step from a node, with every choice.
func (x *search) expand(id int32) {
	path := x.path(id)
	x.mu.Lock()
	since, r := int(x.nodes[id].Since), x.live.take(id)
	x.mu.Unlock()
	if r == nil {
		r = x.replayed(path, since)
	}
	steps, hashes := r.steps(), r.knownHashes()
	if len(steps) == 0 {
		x.rest(id, r, path)
		return
	}
	for i, n := 0, len(steps); i < n; i++ {
		for choices := []uint8{uint8(i)}; choices != nil; {
			if i > 0 || len(choices) > 1 {
				r = x.replayed(path, len(path))
				r.hashesAre(hashes)
				steps = r.steps()
			}
			choices = x.child(id, r, steps, choices, path)
		}
	}
}

// child takes one step, and returns the next choices for the same step, or nil.
func (x *search) child(id int32, r *run, steps []step, choices []uint8, path [][]uint8) (next []uint8) {
	c := r.world.Checker
	c.CoreEvery = 1
	r.take(steps, choices)
	if len(c.Violations) > 0 {
		x.violated(append(path, slices.Clone(r.taken)), strings.Join(c.Violations, "\n"))
	}
	next = r.nextChoices()
	to := x.add(r, id, r.taken)
	byDefault := !slices.ContainsFunc(choices, func(c uint8) bool { return c > 0 })
	x.mu.Lock()
	x.transitions++
	if byDefault {
		x.nodes[id].Next = to
	}
	x.mu.Unlock()
	return next
}

// rest checks a final state.
func (x *search) rest(id int32, r *run, path [][]uint8) {
	c := r.world.Checker
	c.AtRest()
	if wrong := x.wrongAtRest(r.world); wrong != "" {
		c.Violate("L1", "%s", wrong)
	}
	if len(c.Violations) > 0 {
		x.violated(path, "nothing happens anymore, and "+strings.Join(c.Violations, "\n"))
	}
	x.mu.Lock()
	x.nodes[id].Next = atRest
	x.mu.Unlock()
	r.abandon()
}

// wrongAtRest describes what is wrong with the Job in a final state, or returns "".
func (s *smallWorld) wrongAtRest(w *checker.World) string {
	job := w.Store.Jobs()["a"]
	switch {
	case s.wrong != nil:
		return s.wrong(job)
	case job == nil:
		return "the Job is gone"
	case !reconcile.IsFinished(job):
		return "the Job is not finished"
	}
	return rules.When(s.failures == 0 && !history.Is(job, batchv1.JobComplete), "the Job failed, and none of its pods did")
}

func (x *search) violated(path [][]uint8, what string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.violation == nil || len(path) < len(x.violation.path) {
		x.violation = &violation{slices.Clone(path), what}
	}
}

// checkLiveness follows the default schedule from every state: the Job reaches its intended outcome, without cycles.
func (x *search) checkLiveness() {
	if x.violation != nil {
		return
	}
	const live = 1
	seen := make([]int32, len(x.nodes))
	for id := range x.nodes {
		at, mark := int32(id), int32(id)+2
		for at >= 0 && seen[at] == 0 {
			seen[at] = mark
			at = x.nodes[at].Next
		}
		if at >= 0 && seen[at] == mark {
			x.violated(x.path(at), "L1: from here, the same happens again and again")
			return
		}
		for back := int32(id); back >= 0 && seen[back] == mark; back = x.nodes[back].Next {
			seen[back] = live
		}
	}
}

// complete reports whether every reachable state was expanded.
func (x *search) complete() bool { return len(x.pending) == 0 && x.violation == nil }

func (x *search) String() string {
	depth := 0
	for i := range x.nodes {
		depth = max(depth, int(x.nodes[i].Depth))
	}
	end := "complete"
	if !x.complete() {
		end = fmt.Sprintf("%d states not expanded", len(x.pending))
	}
	return fmt.Sprintf("%-32s %9d states %10d transitions, depth %3d, %s", x.name, len(x.nodes), x.transitions, depth, end)
}

// violations describes the violations after a history, or returns "".
func (s *smallWorld) violations(path [][]uint8) string {
	r := newRun(s, 0)
	defer r.abandon()
	r.world.Checker.CoreEvery = 1
	for _, choices := range path {
		r.take(r.steps(), choices)
	}
	return r.wrongSoFar()
}

// wrongSoFar describes the violations up to now, or returns "".
func (r *run) wrongSoFar() string {
	c := r.world.Checker
	if len(r.steps()) == 0 {
		c.AtRest()
		if wrong := r.wrongAtRest(r.world); wrong != "" {
			c.Violate("L1", "%s", wrong)
		}
	}
	return strings.Join(c.Violations, "\n")
}

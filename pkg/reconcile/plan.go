package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// planner collects the operations of a plan, and the findings that explain them.
type planner struct {
	Plan
	// skip holds the pods for which no operations are planned (Observation.Skip).
	skip map[types.UID]bool
}

func (p *planner) release(r PodRef) { p.add(&p.Release, r) }
func (p *planner) delete(pod *Pod)  { p.add(&p.Delete, ref(pod, unconditional)) }
func (p *planner) disown(pod *Pod)  { p.add(&p.Disown, ref(pod, unconditional)) }

// adopt requires an unchanged pod: the stray may be about to be deleted, or to get another owner (JOB-37).
func (p *planner) adopt(pod *Pod) { p.add(&p.Adopt, ref(pod, ifUnchanged)) }

func (p *planner) add(list *[]PodRef, r PodRef) {
	if !p.skip[r.UID] {
		*list = append(*list, r)
	}
}

// requeue keeps the earliest wait.
func (p *planner) requeue(wait time.Duration) {
	if p.RequeueAfter == 0 || wait < p.RequeueAfter {
		p.RequeueAfter = wait
	}
}

func (p *planner) notCounted(pod *Pod, why NotCountedReason) {
	p.Findings.NotCounted = append(p.Findings.NotCounted, NotCounted{pod, why})
}

// limit bounds the plan, so that a Job of 10^5 pods does not delay other Jobs (TRK-33); the rest follows in the next
// stage.
func (p *planner) limit(most int) {
	for _, list := range []*[]PodRef{&p.Delete, &p.Release, &p.Adopt, &p.Disown} {
		if len(*list) > most {
			slices.SortFunc(*list, func(a, b PodRef) int { return cmp.Compare(a.UID, b.UID) })
			*list = (*list)[:most]
		}
	}
}

type precondition bool

const (
	// unconditional: the current state of the pod does not matter.
	unconditional precondition = false
	// ifUnchanged: the pod may have just finished, and must then keep its finalizer (TRK-36).
	ifUnchanged precondition = true
)

func ref(p *Pod, when precondition) PodRef {
	r := PodRef{Name: p.Name, UID: p.UID}
	if when == ifUnchanged {
		r.ResourceVersion = p.ResourceVersion
	}
	return r
}

func outOfRangeRef(p *Pod, when precondition) PodRef {
	r := ref(p, when)
	r.OutOfRange = true
	return r
}

// count32 returns the length of a list as an int32, the type of the API's counters.
func count32[T any](list []T) int32 {
	if len(list) > 1<<31-1 {
		panic(fmt.Sprintf("%d entries", len(list)))
	}
	return int32(len(list))
}

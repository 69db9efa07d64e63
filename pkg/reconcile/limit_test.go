package reconcile

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TRK-33: the pods that a plan at the limit leaves for the next plan do not depend on the order in which pods are
// observed.
func TestLimitedPlanInOneOrder(t *testing.T) {
	unselected := func(p *Pod) { p.Unselected = true }
	for name, c := range map[string]struct {
		o    *observed
		pods []func(*Pod)
		want func(Plan) []PodRef
	}{
		"leftovers of a finished Job": {observeJob(condition("Complete", corev1.ConditionTrue, "", "")), nil, func(p Plan) []PodRef { return p.Release }},
		"excess":                      {observeJob(sized(9, 0)), nil, func(p Plan) []PodRef { return p.Release }},
		"without the finalizer":       {observeJob(sized(9, 9)), []func(*Pod){untracked}, func(p Plan) []PodRef { return p.Delete }},
		"no longer selected":          {observeJob(sized(9, 9)), []func(*Pod){unselected}, func(p Plan) []PodRef { return p.Disown }},
	} {
		t.Run(name, func(t *testing.T) {
			c.o.config.MaxPodChanges = 2
			for i := range 6 {
				c.o.with(fmt.Sprintf("p%d", i), c.pods...)
			}
			first := c.o.compute()
			if n := len(c.want(first)); n != 2 {
				t.Fatalf("%d pods: %s", n, planText(first))
			}
			random := rand.New(rand.NewPCG(1, 2))
			for range 30 {
				random.Shuffle(len(c.o.Pods), func(i, j int) { c.o.Pods[i], c.o.Pods[j] = c.o.Pods[j], c.o.Pods[i] })
				c.o.want(t, planText(first))
			}
		})
	}
}

package clitest

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// WritingPath is a way in which the program writes Jobs, in a cluster in which that succeeds.
type WritingPath struct {
	// New returns the cluster. Its Around is replaced.
	New func(t *testing.T) *Writes
	// React, if any, does what controllers do after a write.
	React func(*Writes)
	// Run writes, and returns the output for the user and its error. Again completes what an error has left; nil is Run.
	Run, Again func(t *testing.T, ctx context.Context, api *Writes) (string, error)
	// Fails is a pattern of the faults that end in an error, such as "conflict at delete jobs". With others, the program succeeds;
	// it may also fail without a permission, or if it is interrupted.
	Fails string
	// Names is in the output if an error leaves a write.
	Names string
}

// faults are what may happen to a write.
var faults = []struct {
	name        string
	interrupted bool
	status      *Status
	stored      bool
	lost        bool
}{
	{name: "lost request", lost: true},
	{name: "lost answer", lost: true, stored: true},
	{name: "conflict", status: &Status{409, "Conflict", "the object has been modified; please apply your changes to the latest version and try again"}},
	{name: "forbidden", status: &Status{403, "Forbidden", `jobs.batch is forbidden: User "u" cannot do that in the namespace "ns1"`}},
	{name: "Ctrl-C", interrupted: true, stored: true},
}

// Try runs the path with each fault at each of its writes. A path that succeeds has the result that it has without faults; the error
// of another one names what it leaves, and Again completes that.
func (p WritingPath) Try(t *testing.T) {
	t.Helper()
	plain := p.start(t)
	before := plain.state()
	if out, err := p.Run(t, t.Context(), plain.Writes); err != nil {
		t.Fatalf("without a fault: %v\n%s", err, out)
	}
	done, calls := plain.state(), plain.Calls()
	for n, call := range calls {
		for _, fault := range faults {
			at := fault.name + " at " + call
			if slices.Contains(calls[:n], call) {
				at = fmt.Sprintf("%s (%d)", at, n+1)
			}
			t.Run(at, func(t *testing.T) {
				c := p.start(t)
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				c.at, c.fault = n+1, func(serve func()) {
					if fault.interrupted {
						interrupt()
					}
					if fault.status != nil {
						c.Reject = func(string, *http.Request) *Status { return fault.status }
						defer func() { c.Reject = nil }()
					}
					if fault.stored || fault.status != nil {
						serve()
					}
					if fault.lost {
						panic(http.ErrAbortHandler)
					}
				}
				out, err := p.Run(t, ctx, c.Writes)
				c.serving.Wait()
				state, code := c.state(), cmdutil.ExitCode(err)
				fails := regexp.MustCompile("^(" + p.Fails + ")$").MatchString(at)
				switch {
				case err == nil && (state != done || fails):
					t.Errorf("success, but %s\n%s", state, out)
				case err != nil && fault.interrupted && code != cmdutil.ExitInterrupted, err != nil && !fault.interrupted && fault.name != "forbidden" && !fails:
					t.Errorf("exit %d: %s", code, out)
				case err != nil && state != before && !strings.Contains(out, p.Names):
					t.Errorf("%q is missing in %q\n%s", p.Names, out, state)
				}
				if state == done {
					return
				}
				again := p.Again
				if again == nil {
					again = p.Run
				}
				if text, err := again(t, t.Context(), c.Writes); c.state() != done {
					t.Errorf("%s%sthen %s\nand again: %v\n%s\n%s", out, state, done, err, text, c.state())
				}
			})
		}
	}
}

// cluster is one in which a write fails.
type cluster struct {
	*Writes
	mu     sync.Mutex
	at, no int
	fault  func(serve func())
	// serving are the calls that the server has not ended: a client that is interrupted does not wait for them.
	serving sync.WaitGroup
}

func (p WritingPath) start(t *testing.T) *cluster {
	c := &cluster{Writes: p.New(t)}
	react := func() {
		if p.React != nil {
			p.React(c.Writes)
		}
	}
	c.Around = func(_ string, _ *http.Request, serve func()) {
		c.serving.Add(1)
		defer c.serving.Done()
		c.mu.Lock()
		c.no++
		hit := c.no == c.at
		c.mu.Unlock()
		defer react()
		if !hit {
			serve()
			return
		}
		c.fault(serve)
	}
	return c
}

var generated = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// state has the Jobs: their names without random suffixes, images, memory limits, and what holds or ended them.
func (c *cluster) state() string {
	c.API.Mu.Lock()
	defer c.API.Mu.Unlock()
	var all []string
	for _, job := range c.API.Jobs {
		text := generated.ReplaceAllString(job.GetName(), "-x")
		containers, _, _ := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
		for _, container := range containers {
			fields, _ := container.(map[string]any)
			limits, _, _ := unstructured.NestedMap(fields, "resources", "limits")
			text += fmt.Sprint(" ", fields["image"], " ", limits["memory"])
		}
		suspended, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend")
		completed, _, _ := unstructured.NestedString(job.Object, "status", "completedIndexes")
		conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
		text += fmt.Sprintf(" suspended %t, completed %s", suspended, completed)
		for _, condition := range conditions {
			text += fmt.Sprint(" ", condition.(map[string]any)["type"])
		}
		all = append(all, text+"\n")
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

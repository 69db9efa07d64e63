// Package gather reads what an explanation of a Job rests on: its pods, events, the Lease
// of its controller, the Workload of one that Kueue holds, the nodes of pods that do not end, the
// claims of pods that wait for one, the last lines of logs, and its retries.
//
// It needs no more than get, list and watch on jobs, pods and events; whatever else it
// may not read only makes the facts fewer. No error ends it: what could not be read is a
// Gap. Pods and events are read in pages, and only what explain.Pod and explain.Event
// hold is kept of them.
package gather

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

const (
	// podPageSize is how many pods one list call returns. An API server has the first page in its cache, and reads all
	// others from etcd once nothing has changed for a while: 25 pages of 2,000 take it four times the CPU time of one of
	// 50,000, and five times as long. Pods are decoded as they arrive, so that large pages need no more memory.
	podPageSize = 100_000
	// eventPageSize is how many events one list call returns.
	eventPageSize = 2000
	// maxExpectedPods is for how many pods there is room before they are read.
	maxExpectedPods = 200_000
	// MaxEvents is how many events of pods of a namespace are looked through.
	MaxEvents = 5000
	// MaxLogs is how many containers' logs are read, readBytes how much of the last lines of
	// each, and logBytes how much of that is kept.
	MaxLogs   = 3
	readBytes = 4 << 20
	logBytes  = 64 << 10
	// maxNodes is how many nodes are looked up.
	maxNodes = 5
)

// Options say what is read beside pods and events.
type Options struct {
	// Report narrows what logs are read of.
	Report explain.Options
	// LogLines is how many last lines are read of the logs that tell most; 0 for none.
	LogLines int64
	// WithoutPodEvents leaves out the events of pods, for which all of the namespace's are
	// looked through.
	WithoutPodEvents bool
	// OurName is the default managedBy value of this project's controller. Without Leases,
	// none are read.
	OurName string
	Leases  Leases
}

// Reader reads about Jobs. What is the same for several Jobs it reads once: it is for one
// moment, and may be used by several goroutines.
type Reader struct {
	client  kube.Interface
	options Options

	mu         sync.Mutex
	leases     []coordinationv1.Lease
	leasesRead bool
}

// NewReader returns a Reader.
func NewReader(client kube.Interface, o Options) *Reader {
	return &Reader{client: client, options: o}
}

// reading is one Job's facts as far as they are read.
type reading struct {
	*Reader
	facts explain.Input
}

// Read reads all about one Job at the time now.
func Read(ctx context.Context, client kube.Interface, job *batchv1.Job, ruleNames []string, now time.Time, o Options) explain.Input {
	return NewReader(client, o).Read(ctx, job, ruleNames, now)
}

// Read reads all about a Job at the time now.
func (s *Reader) Read(ctx context.Context, job *batchv1.Job, ruleNames []string, now time.Time) explain.Input {
	r := &reading{Reader: s, facts: explain.Input{Now: now, OurName: s.options.OurName, Job: job, RuleNames: ruleNames}}
	r.pods(ctx)
	r.relatives(ctx)
	r.events(ctx)
	r.lease(ctx)
	r.workload(ctx)
	r.nodes(ctx)
	r.claims(ctx)
	r.logs(ctx)
	return r.facts
}

// gap notes what could not be read, and why.
func (r *reading) gap(verb, resource string, err error) {
	r.facts.Gaps = append(r.facts.Gaps, GapOf(r.facts.Job.Namespace, verb, resource, err))
}

// GapOf says what could not be read of a namespace, or of all with "", and why.
func GapOf(namespace, verb, resource string, err error) explain.Gap {
	g := explain.Gap{What: resource}
	where := "namespace " + namespace
	if namespace == "" {
		where = "all namespaces"
	}
	switch {
	case apierrors.IsForbidden(err):
		g.Text = fmt.Sprintf("%s could not be read: no permission to %s %s in %s", resource, verb, resource, where)
		g.Verb, g.Resource, g.Namespace = verb, resource, namespace
		if resource == "nodes" {
			g.Text, g.Namespace = "nodes could not be read: no permission to get nodes", ""
		}
		g.MakeCommand()
	case errors.Is(err, context.DeadlineExceeded):
		g.Text = resource + " could not be read: timed out"
	default:
		if failed, is := errors.AsType[*url.Error](err); is {
			err = failed.Err // The URL is of no use to people.
		}
		g.Text = fmt.Sprintf("%s could not be read: %v", resource, err)
	}
	return g
}

// UnwatchedGap is for what can be read of a namespace but not watched, and how often it
// is read instead. What of it is "watch pods" for pods: they are not missing.
func UnwatchedGap(namespace, resource string, every time.Duration) explain.Gap {
	g := explain.Gap{
		What: "watch " + resource, Text: fmt.Sprintf("no permission to watch %s: they are read every %s instead", resource, every),
		Verb: "watch", Resource: resource, Namespace: namespace,
	}
	g.MakeCommand()
	return g
}

func (r *reading) nodes(ctx context.Context) {
	gone, err := GoneNodes(ctx, r.client, r.facts.Pods, r.facts.Now)
	if err != nil {
		r.gap("get", "nodes", err)
	}
	r.facts.GoneNodes = gone
	if names := nodesOfGonePods(&r.facts); err == nil && len(names) > 0 {
		r.removedNodes(ctx, names)
	}
}

// GoneNodes looks at the nodes of pods that should have ended, and returns those that cannot
// end them, and why; with an error, those that were found before it.
func GoneNodes(ctx context.Context, client kube.Interface, pods []*explain.Pod, now time.Time) (map[string]string, error) {
	var names []string
	for _, p := range pods {
		late := p.IsTerminating() && now.After(p.DeletedAt.Add(p.Grace))
		if late && p.Node != "" && !slices.Contains(names, p.Node) && len(names) < maxNodes {
			names = append(names, p.Node)
		}
	}
	var gone map[string]string
	for _, name := range names {
		why := explain.NodeRemoved
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			why = explain.NodeTrouble(node)
		case !kube.IsNotFound(err):
			return gone, err
		}
		if why == "" {
			continue
		}
		if gone == nil {
			gone = map[string]string{}
		}
		gone[name] = why
	}
	return gone, nil
}

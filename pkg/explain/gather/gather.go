// Package gather reads the input of an explanation of a Job: its pods, events, the Lease of its controller, the Workload of a
// Job that Kueue holds, the nodes of pods that do not end, the claims of pods that wait for them, the last lines of logs, and
// its retries.
//
// It needs only get, list and watch on jobs, pods and events; other missing permissions reduce the input. No error ends it:
// data that could not be read is reported as a Gap. Pods and events are read in pages, and only the fields of explain.Pod and
// explain.Event are kept.
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
	// podPageSize is the number of pods per list request. An API server has the first page in its cache, and reads all other
	// pages from etcd once nothing has changed for a while: 25 pages of 2,000 pods take four times the CPU time of one page
	// of 50,000, and five times as long. Pods are decoded as they arrive, so that large pages need no more memory.
	podPageSize = 100_000
	// eventPageSize is the number of events per list request.
	eventPageSize = 2000
	// maxExpectedPods limits the memory allocated before pods are read.
	maxExpectedPods = 200_000
	// MaxEvents is the maximum number of pod events of a namespace that are searched.
	MaxEvents = 5000
	// MaxLogs is the maximum number of containers whose logs are read, readBytes the maximum size read of the last lines of
	// each, and logBytes the size kept of that.
	MaxLogs   = 3
	readBytes = 4 << 20
	logBytes  = 64 << 10
	// maxNodes is the maximum number of nodes that are looked up.
	maxNodes = 5
)

// Options select the data to read in addition to pods and events.
type Options struct {
	// Report restricts the logs that are read.
	Report explain.Options
	// LogLines is the number of last lines to read of the most informative logs; 0 for none.
	LogLines int64
	// WithoutPodEvents leaves out the events of pods, which require a search of all pod events of the namespace.
	WithoutPodEvents bool
	// OurName is the default managedBy value of this project's controller. If Leases is nil, no Lease is read.
	OurName string
	Leases  Leases
}

// Reader reads the input for several Jobs at one moment. Data shared by several Jobs is read once. It is safe for concurrent
// use.
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

// reading is the input of one Job, as far as it has been read.
type reading struct {
	*Reader
	facts explain.Input
}

// Read reads the input for one Job, at the time now.
func Read(ctx context.Context, client kube.Interface, job *batchv1.Job, ruleNames []string, now time.Time, o Options) explain.Input {
	return NewReader(client, o).Read(ctx, job, ruleNames, now)
}

// Read reads the input for a Job, at the time now.
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

// gap records the resource that could not be read, and why.
func (r *reading) gap(verb, resource string, err error) {
	r.facts.Gaps = append(r.facts.Gaps, GapOf(r.facts.Job.Namespace, verb, resource, err))
}

// GapOf describes a resource of a namespace, or of all namespaces with "", that could not be read, and why.
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
			err = failed.Err // The URL does not help users.
		}
		g.Text = fmt.Sprintf("%s could not be read: %v", resource, err)
	}
	return g
}

// UnwatchedGap describes a resource of a namespace that may be read but not watched, and is read every interval instead. Its
// What is "watch pods" for pods, as the pods themselves are not missing.
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

// GoneNodes looks up the nodes of pods that should have ended, and returns the nodes that cannot end them, with the reasons.
// If it returns an error, the map holds the nodes found before the error.
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

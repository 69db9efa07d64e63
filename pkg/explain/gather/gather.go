// Package gather reads what an explanation of a Job rests on: its pods, events, the Lease
// of its controller, the nodes of pods that do not end, and the last lines of logs.
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
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

const (
	// pageSize is how many objects one list call returns.
	pageSize = 500
	// maxEvents is how many events of pods of a namespace are looked through.
	maxEvents = 5000
	// maxLogs is how many containers' logs are read, readBytes how much of the last lines of
	// each, and logBytes how much of that is kept.
	maxLogs   = 3
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
	// OurName is the default managedBy value of this project's controller, LeaseName the
	// name of the Lease of one with another.
	OurName   string
	LeaseName func(managedBy string) string
}

// Reader reads about Jobs. What is the same for several Jobs it reads once: it is for one
// moment, and may be used by several goroutines.
type Reader struct {
	client  kubernetes.Interface
	options Options

	mu     sync.Mutex
	leases map[string]*explain.Lease // by managedBy
}

// NewReader returns a Reader.
func NewReader(client kubernetes.Interface, o Options) *Reader {
	return &Reader{client: client, options: o, leases: map[string]*explain.Lease{}}
}

// reading is one Job's facts as far as they are read.
type reading struct {
	*Reader
	facts explain.Facts
}

// Facts reads all about one Job at the time now.
func Facts(ctx context.Context, client kubernetes.Interface, job *batchv1.Job, ruleNames []string, now time.Time, o Options) explain.Facts {
	return NewReader(client, o).Facts(ctx, job, ruleNames, now)
}

// Facts reads all about a Job at the time now.
func (s *Reader) Facts(ctx context.Context, job *batchv1.Job, ruleNames []string, now time.Time) explain.Facts {
	r := &reading{Reader: s, facts: explain.Facts{Now: now, OurName: s.options.OurName, Job: job, RuleNames: ruleNames}}
	r.pods(ctx)
	r.events(ctx)
	r.lease(ctx)
	r.nodes(ctx)
	r.logs(ctx)
	return r.facts
}

// gap notes what could not be read, and why.
func (r *reading) gap(verb, resource string, err error) {
	g := explain.Gap{What: resource}
	ns := r.facts.Job.Namespace
	switch {
	case apierrors.IsForbidden(err):
		g.Text = fmt.Sprintf("%s could not be read: no permission to %s %s in namespace %s", resource, verb, resource, ns)
		g.Command = fmt.Sprintf("kubectl auth can-i %s %s -n %s", verb, strings.Replace(resource, "/", " --subresource=", 1), ns)
		if resource == "nodes" {
			g.Text, g.Command = "nodes could not be read: no permission to get nodes", "kubectl auth can-i get nodes"
		}
	case errors.Is(err, context.DeadlineExceeded):
		g.Text = resource + " could not be read: no answer in time"
	default:
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // The URL is of no use to people.
		}
		g.Text = fmt.Sprintf("%s could not be read: %v", resource, err)
	}
	r.facts.Gaps = append(r.facts.Gaps, g)
}

func (r *reading) pods(ctx context.Context) {
	job := r.facts.Job
	options := metav1.ListOptions{}
	if job.Spec.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
		if err != nil {
			r.gap("list", "pods", fmt.Errorf("the Job's selector: %w", err))
			return
		}
		options.LabelSelector = selector.String()
	}
	err := eachPage(ctx, options, func(options metav1.ListOptions) (string, error) {
		if options.Continue == "" {
			r.facts.Pods = nil // The first page, perhaps once more.
		}
		page, err := r.client.CoreV1().Pods(job.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			if pod := &page.Items[i]; observe.JobUID(pod) == job.UID {
				r.facts.Pods = append(r.facts.Pods, explain.PodOf(pod))
			}
		}
		return page.Continue, nil
	})
	if err != nil {
		r.facts.Pods = nil
		r.gap("list", "pods", err)
		return
	}
	r.facts.PodsRead = true
}

// eachPage asks for page after page, until read returns no token for a next one. When the
// token has expired, it begins again without pages.
func eachPage(ctx context.Context, options metav1.ListOptions, read func(metav1.ListOptions) (next string, err error)) error {
	options.Limit = pageSize
	for {
		next, err := read(options)
		switch {
		case apierrors.IsResourceExpired(err) && options.Continue != "":
			options.Continue, options.Limit = "", 0
			continue
		case err != nil:
			return err
		case next == "":
			return ctx.Err()
		}
		options.Continue = next
	}
}

// lease finds that of the controller, which may be in any namespace. Few may read leases,
// and it is no more than a sign of life: without it there is no gap.
func (r *reading) lease(ctx context.Context) {
	managedBy := ptr.Deref(r.facts.Job.Spec.ManagedBy, "")
	if managedBy == "" || r.options.LeaseName == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, read := r.leases[managedBy]; !read {
		r.leases[managedBy] = r.readLease(ctx, r.options.LeaseName(managedBy))
	}
	r.facts.Lease = r.leases[managedBy]
}

// readLease returns the Lease of the name that was renewed last, or nil.
func (r *reading) readLease(ctx context.Context, name string) *explain.Lease {
	list, err := r.client.CoordinationV1().Leases("").List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		return nil
	}
	var last *explain.Lease
	for i := range list.Items {
		if l := explain.LeaseOf(&list.Items[i]); last == nil || l.Renewed.After(last.Renewed) {
			last = &l
		}
	}
	return last
}

// nodes looks at those of pods that should have ended.
func (r *reading) nodes(ctx context.Context) {
	var names []string
	for i := range r.facts.Pods {
		p := &r.facts.Pods[i]
		late := p.IsTerminating() && r.facts.Now.After(p.DeletedAt.Add(p.Grace))
		if late && p.Node != "" && !slices.Contains(names, p.Node) && len(names) < maxNodes {
			names = append(names, p.Node)
		}
	}
	for _, name := range names {
		node, err := r.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			r.goneNode(name, "it does not exist any more")
		case err != nil:
			r.gap("get", "nodes", err)
			return
		default:
			if why := explain.NodeTrouble(node); why != "" {
				r.goneNode(name, why)
			}
		}
	}
}

func (r *reading) goneNode(name, why string) {
	if r.facts.GoneNodes == nil {
		r.facts.GoneNodes = map[string]string{}
	}
	r.facts.GoneNodes[name] = why
}

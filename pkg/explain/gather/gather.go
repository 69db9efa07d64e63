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
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
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
	// maxLogs is how many containers' logs are read, logBytes how much of each.
	maxLogs  = 3
	logBytes = 64 << 10
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
	o     Options
	facts explain.Facts
}

// Facts reads all about one Job at the time now.
func Facts(ctx context.Context, client kubernetes.Interface, job *batchv1.Job, ruleNames []string, now time.Time, o Options) explain.Facts {
	return NewReader(client, o).Facts(ctx, job, ruleNames, now)
}

// Facts reads all about a Job at the time now.
func (s *Reader) Facts(ctx context.Context, job *batchv1.Job, ruleNames []string, now time.Time) explain.Facts {
	o := s.options
	r := &reading{Reader: s, o: o, facts: explain.Facts{Now: now, OurName: o.OurName, Job: job, RuleNames: ruleNames}}
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

// events reads those of the Job, and those of its pods. The latter are found among all of
// the namespace's: a pod that is gone is told by its name.
func (r *reading) events(ctx context.Context) {
	job := r.facts.Job
	ofJob := fields.Set{"involvedObject.kind": "Job", "involvedObject.name": job.Name}
	if job.UID != "" {
		ofJob["involvedObject.uid"] = string(job.UID)
	}
	if _, err := r.eachEvent(ctx, ofJob, func(explain.Event) bool { return true }); err != nil {
		r.gap("list", "events", err)
		return
	}
	if r.o.WithoutPodEvents {
		return
	}
	mine := make(map[string]bool, len(r.facts.Pods))
	for i := range r.facts.Pods {
		mine[r.facts.Pods[i].Name] = true
	}
	complete, err := r.eachEvent(ctx, fields.Set{"involvedObject.kind": "Pod"}, func(e explain.Event) bool {
		return mine[e.Pod] || mayBePodOf(job, e.Pod) && !e.Last.Before(job.CreationTimestamp.Time)
	})
	switch {
	case err != nil:
		r.gap("list", "events", err)
	case !complete:
		r.facts.Gaps = append(r.facts.Gaps, explain.Gap{What: "events", Text: fmt.Sprintf("the namespace has many events: only %d of those about pods were looked through", maxEvents)})
	default:
		r.facts.EventsRead = true
	}
}

// eachEvent keeps the wanted ones of the first maxEvents; complete says that these are all.
func (r *reading) eachEvent(ctx context.Context, about fields.Set, wanted func(explain.Event) bool) (complete bool, err error) {
	before := len(r.facts.Events)
	seen := 0
	err = eachPage(ctx, metav1.ListOptions{FieldSelector: about.String()}, func(options metav1.ListOptions) (string, error) {
		if options.Continue == "" {
			r.facts.Events, seen = r.facts.Events[:before], 0
		}
		page, err := r.client.CoreV1().Events(r.facts.Job.Namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			if seen++; seen > maxEvents {
				return "", nil
			}
			if e := explain.EventOf(&page.Items[i]); wanted(e) {
				r.facts.Events = append(r.facts.Events, e)
			}
		}
		return page.Continue, nil
	})
	return err == nil && seen <= maxEvents, err
}

// How the API server makes names from generateName: so many bytes of it, and a suffix of
// these letters.
const (
	maxGenerateName = 58
	suffixLength    = 5
	suffixLetters   = "bcdfghjklmnpqrstvwxz2456789"
)

// mayBePodOf says that a Job of this name could have made a pod of that name: the pod is
// gone, and its name is all that is left of it.
func mayBePodOf(job *batchv1.Job, pod string) bool {
	if len(pod) < suffixLength || strings.Trim(pod[len(pod)-suffixLength:], suffixLetters) != "" {
		return false
	}
	made := pod[:len(pod)-suffixLength]
	if job.Spec.CompletionMode == nil || *job.Spec.CompletionMode != batchv1.IndexedCompletion {
		whole := job.Name + "-"
		return made == whole[:min(len(whole), maxGenerateName)]
	}
	rest, isGenerated := strings.CutSuffix(made, "-")
	dash := strings.LastIndexByte(rest, '-')
	if !isGenerated || dash < 0 {
		return false
	}
	index, err := strconv.ParseInt(rest[dash+1:], 10, 32)
	return err == nil && index < int64(ptr.Deref(job.Spec.Completions, math.MaxInt32)) &&
		rest[:dash] == job.Name[:min(len(job.Name), maxGenerateName-len(made)+dash)]
}

// lease finds that of the controller, which may be in any namespace. Few may read leases,
// and it is no more than a sign of life: without it there is no gap.
func (r *reading) lease(ctx context.Context) {
	managedBy := ptr.Deref(r.facts.Job.Spec.ManagedBy, "")
	if managedBy == "" || r.o.LeaseName == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, read := r.leases[managedBy]; !read {
		r.leases[managedBy] = r.readLease(ctx, r.o.LeaseName(managedBy))
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

// logs reads the last lines of the containers that tell most, until one cannot be read.
func (r *reading) logs(ctx context.Context) {
	if r.o.LogLines <= 0 {
		return
	}
	for _, target := range explain.LogTargets(r.facts, r.o.Report, maxLogs) {
		lines, err := r.tail(ctx, target)
		switch {
		case apierrors.IsForbidden(err):
			r.gap("get", "pods/log", err)
			return
		case err != nil:
			r.facts.Gaps = append(r.facts.Gaps, explain.Gap{What: "logs", Text: fmt.Sprintf("the log of pod %s could not be read: %s", target.Pod, r.whyNoLog(target, err))})
			return
		case len(lines) > 0:
			r.facts.Logs = append(r.facts.Logs, explain.LogTail{Pod: target.Pod, Container: target.Container, Lines: lines})
		}
	}
}

// whyNoLog shortens what the API server says when it cannot reach the kubelet, which has
// the log.
func (r *reading) whyNoLog(t explain.LogTarget, err error) string {
	var status apierrors.APIStatus
	switch {
	case !errors.As(err, &status):
		return err.Error()
	case apierrors.IsNotFound(err):
		return "it is gone"
	case status.Status().Code == http.StatusInternalServerError && strings.Contains(status.Status().Message, "/containerLogs/"):
		for i := range r.facts.Pods {
			if r.facts.Pods[i].Name == t.Pod {
				return fmt.Sprintf("its node, %s, does not answer", r.facts.Pods[i].Node)
			}
		}
	}
	return status.Status().Message
}

func (r *reading) tail(ctx context.Context, t explain.LogTarget) ([]string, error) {
	stream, err := r.client.CoreV1().Pods(r.facts.Job.Namespace).GetLogs(t.Pod, &corev1.PodLogOptions{
		Container: t.Container, Previous: t.Previous, TailLines: &r.o.LogLines, LimitBytes: ptr.To[int64](logBytes),
	}).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }() // It was read to its end, or failed.
	data, err := io.ReadAll(io.LimitReader(stream, logBytes))
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(string(data), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

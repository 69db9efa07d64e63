package gather

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

const (
	// maxStallObjects is how many pods, and how many events, are read for a list: one page.
	maxStallObjects = 500
	// maxJobNames is how many Jobs a selector names; of more, all pods of Jobs are selected.
	maxJobNames = 50
)

// Stalls is what two requests show of why Jobs of a list make no progress (ADR 0017).
type Stalls struct {
	pods   map[types.UID][]explain.Pod   // in phase Pending, by Job
	events map[types.UID][]explain.Event // warnings, by Job
	// podsGap and eventsGap are what could not be read, or not in full; nil if nothing.
	podsGap, eventsGap *explain.Gap
}

// ReadStalls reads it for Jobs of a namespace, or of all with "": their pods in phase Pending, if
// some are active, and the warnings about them. A request that fails, but for a missing permission,
// leaves what was known before; nil for nothing.
func ReadStalls(ctx context.Context, client kubernetes.Interface, namespace string, jobs []*batchv1.Job, before *Stalls) *Stalls {
	if before == nil {
		before = &Stalls{}
	}
	s := &Stalls{}
	if len(jobs) > 0 {
		s.readEvents(ctx, client, namespace, jobs, before)
	}
	active := slices.DeleteFunc(slices.Clone(jobs), func(job *batchv1.Job) bool { return job.Status.Active == 0 })
	if len(active) > 0 {
		s.readPods(ctx, client, namespace, active, before)
	}
	return s
}

func (s *Stalls) readPods(ctx context.Context, client kubernetes.Interface, namespace string, jobs []*batchv1.Job, before *Stalls) {
	page, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: podsOfJobs(jobs), FieldSelector: fields.OneTermEqualSelector("status.phase", string(corev1.PodPending)).String(), Limit: maxStallObjects,
	})
	if err != nil {
		if s.pods, s.podsGap = before.pods, before.podsGap; s.pods == nil || apierrors.IsForbidden(err) {
			s.pods, s.podsGap = nil, ptr.To(GapOf(namespace, "list", "pods", err))
		}
		return
	}
	s.pods, s.podsGap = map[types.UID][]explain.Pod{}, manyStalls("pods", page.Continue)
	for i := range page.Items {
		owner := observe.JobUID(&page.Items[i])
		s.pods[owner] = append(s.pods[owner], explain.PodOf(&page.Items[i]))
	}
}

func (s *Stalls) readEvents(ctx context.Context, client kubernetes.Interface, namespace string, jobs []*batchv1.Job, before *Stalls) {
	about := fields.Set{"involvedObject.kind": "Job", "type": corev1.EventTypeWarning}
	if len(jobs) == 1 {
		about["involvedObject.name"] = jobs[0].Name
	}
	page, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: about.String(), Limit: maxStallObjects})
	if err != nil {
		if s.events, s.eventsGap = before.events, before.eventsGap; s.events == nil || apierrors.IsForbidden(err) {
			s.events, s.eventsGap = nil, ptr.To(GapOf(namespace, "list", "events", err))
		}
		return
	}
	s.events, s.eventsGap = map[types.UID][]explain.Event{}, manyStalls("events", page.Continue)
	for i := range page.Items {
		about := page.Items[i].InvolvedObject.UID
		s.events[about] = append(s.events[about], explain.EventOf(&page.Items[i]))
	}
}

func manyStalls(what, next string) *explain.Gap {
	if next == "" {
		return nil
	}
	return &explain.Gap{What: what, Text: "there are many " + what + ": only some of them were read"}
}

// podsOfJobs selects pods of the Jobs by their label, or those of all Jobs.
func podsOfJobs(jobs []*batchv1.Job) string {
	if len(jobs) <= maxJobNames {
		var names []string
		for _, job := range jobs {
			names = append(names, job.Name)
		}
		if r, err := labels.NewRequirement(batchv1.JobNameLabel, selection.In, names); err == nil {
			return r.String()
		}
	}
	return batchv1.JobNameLabel
}

// Input is what is known of a Job of the list.
func (s *Stalls) Input(job *batchv1.Job, ruleNames []string, now time.Time) explain.Input {
	f := explain.Input{Listed: true, Now: now, Job: job, RuleNames: ruleNames}
	if s != nil {
		f.Pods, f.Events = s.pods[job.UID], s.events[job.UID]
	}
	return f
}

// Gaps are what could not be read.
func (s *Stalls) Gaps() []explain.Gap {
	if s == nil {
		return nil
	}
	var gaps []explain.Gap
	for _, gap := range []*explain.Gap{s.podsGap, s.eventsGap} {
		if gap != nil {
			gaps = append(gaps, *gap)
		}
	}
	return gaps
}

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
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

const (
	// maxStallObjects is the maximum number of pods, and of events, that are read for a list: one page.
	maxStallObjects = 500
	// maxJobNames is the maximum number of Jobs in a selector; for more Jobs, the pods of all Jobs are selected.
	maxJobNames = 50
	// slowStart is the time for which a pod may have a node and not start before the warnings about pods are read.
	slowStart = time.Minute
)

// Stalls holds the results of at most four requests that explain why Jobs of a list make no progress, or fail (ADR 0017).
type Stalls struct {
	pods   ofJobs[*explain.Pod]  // pods that have not ended
	failed ofJobs[*explain.Pod]  // pods that failed
	events ofJobs[explain.Event] // warnings about Jobs
	// podEvents holds warnings about pods that do not start, and whose status does not explain why.
	podEvents ofJobs[explain.Event]
	// counted is the number of failures of each Job at the time its failed pods were read.
	counted map[types.UID]int32
}

// ofJobs holds the objects read for Jobs, and the Gap, nil if there is none.
type ofJobs[T any] struct {
	byJob   map[types.UID][]T
	gap     *explain.Gap
	refused bool // the gap is a missing permission
}

// ReadStalls reads the data for Jobs of a namespace, or of all with "". jobs may be stalled: their pods that have not ended
// are read, if some are active. failing are Jobs with failures: their failed pods are read, unless before has them. For both,
// warnings are read; and warnings about pods, if at now a pod has had a node for long and its status does not explain why it
// does not start. If a request fails, the data in before is kept, unless the request is forbidden. before may be nil.
func ReadStalls(ctx context.Context, client kube.Interface, namespace string, jobs, failing []*batchv1.Job, before *Stalls, now time.Time) *Stalls {
	s := &Stalls{}
	if before == nil {
		before = s
	}
	s.failed, s.counted = before.failed, before.counted
	news := before.lacks(failing)
	if news {
		s.readFailed(ctx, client, namespace, failing)
	}
	switch about := slices.Concat(jobs, failing); {
	case len(jobs) == 0 && len(failing) > 0 && !news:
		s.events = before.events
	case len(about) > 0:
		selected := fields.Set{"involvedObject.kind": "Job", "type": corev1.EventTypeWarning}
		if len(about) == 1 {
			selected["involvedObject.name"] = about[0].Name
		}
		page, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: selected.String(), Limit: maxStallObjects})
		s.events = before.events.next(namespace, "events", page, err, func(into map[types.UID][]explain.Event) {
			for i := range page.Items {
				about := page.Items[i].InvolvedObject.UID
				into[about] = append(into[about], explain.EventOf(&page.Items[i]))
			}
		})
	}
	active := slices.DeleteFunc(slices.Clone(jobs), func(job *batchv1.Job) bool { return job.Status.Active == 0 })
	if len(active) > 0 {
		phases := "status.phase!=Succeeded,status.phase!=Failed"
		if len(active) > maxJobNames { // The pods of all Jobs are selected: many may be running.
			phases = "status.phase=Pending"
		}
		page, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: podsOfJobs(active), FieldSelector: phases, Limit: maxStallObjects})
		s.pods = before.pods.next(namespace, "pods", page, err, func(into map[types.UID][]*explain.Pod) {
			for i := range page.Items {
				pod := &page.Items[i]
				if pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodPending {
					continue // Only the Job's other pods show whether it holds up the Job.
				}
				owner := observe.JobUID(pod)
				into[owner] = append(into[owner], explain.PodOf(pod))
			}
		})
		s.readPodEvents(ctx, client, namespace, before, now)
	}
	return s
}

// readPodEvents reads the warnings about pods, such as FailedMount, if a pod does not start for an unknown reason.
func (s *Stalls) readPodEvents(ctx context.Context, client kube.Interface, namespace string, before *Stalls, now time.Time) {
	owners := map[types.UID]types.UID{}
	for owner, pods := range s.pods.byJob {
		for _, p := range pods {
			if startsSlowly(p, now) {
				owners[p.UID] = owner
			}
		}
	}
	if len(owners) == 0 {
		return
	}
	about := fields.Set{"involvedObject.kind": "Pod", "type": corev1.EventTypeWarning}
	page, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: about.String(), Limit: maxStallObjects})
	s.podEvents = before.podEvents.next(namespace, "events", page, err, func(into map[types.UID][]explain.Event) {
		for i := range page.Items {
			if owner, slow := owners[page.Items[i].InvolvedObject.UID]; slow {
				into[owner] = append(into[owner], explain.EventOf(&page.Items[i]))
			}
		}
	})
}

// startsSlowly reports whether the kubelet has had the pod for a while, and the pod's status does not explain the delay.
func startsSlowly(p *explain.Pod, now time.Time) bool {
	if p.Phase != corev1.PodPending || p.Node == "" || p.CreatedAt.IsZero() || now.Sub(p.CreatedAt) < slowStart {
		return false
	}
	return !slices.ContainsFunc(p.Containers, func(c explain.Container) bool { return c.SaysWhyItWaits() })
}

// lacks reports whether a Job has failures whose pods have not been read.
func (s *Stalls) lacks(failing []*batchv1.Job) bool {
	return slices.ContainsFunc(failing, func(job *batchv1.Job) bool { return s.counted[job.UID] != job.Status.Failed })
}

// IsRefused reports whether a missing permission hides why Jobs fail.
func (s *Stalls) IsRefused() bool { return s != nil && (s.failed.refused || s.events.refused) }

// Unread returns a copy of s without the counts of failures, so that the next ReadStalls reads failed pods again: the
// permission may have been granted.
func (s *Stalls) Unread() *Stalls {
	unread := *s
	unread.counted = nil
	return &unread
}

// readFailed replaces the failed pods of s by the failed pods of the Jobs.
func (s *Stalls) readFailed(ctx context.Context, client kube.Interface, namespace string, failing []*batchv1.Job) {
	page, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: podsOfJobs(failing), FieldSelector: "status.phase=" + string(corev1.PodFailed), Limit: maxStallObjects,
	})
	s.failed = s.failed.next(namespace, "pods", page, err, func(into map[types.UID][]*explain.Pod) {
		for i := range page.Items {
			owner := observe.JobUID(&page.Items[i])
			into[owner] = append(into[owner], explain.PodOf(&page.Items[i]))
		}
	})
	if err != nil && !apierrors.IsForbidden(err) {
		return // The next attempt may succeed.
	}
	s.counted = map[types.UID]int32{}
	for _, job := range failing {
		s.counted[job.UID] = job.Status.Failed
	}
}

// next returns the objects of a page, or the data that remains after an error.
func (before ofJobs[T]) next(namespace, what string, page metav1.ListInterface, err error, add func(into map[types.UID][]T)) ofJobs[T] {
	switch {
	case err != nil && before.byJob != nil && !apierrors.IsForbidden(err):
		return before
	case err != nil:
		return ofJobs[T]{gap: ptr.To(GapOf(namespace, "list", what, err)), refused: apierrors.IsForbidden(err)}
	}
	now := ofJobs[T]{byJob: map[types.UID][]T{}}
	add(now.byJob)
	if page.GetContinue() != "" {
		now.gap = &explain.Gap{What: what, Text: "there are many " + what + ": only some of them were read"}
	}
	return now
}

// podsOfJobs selects the pods of the Jobs by their label, or the pods of all Jobs.
func podsOfJobs(jobs []*batchv1.Job) string {
	if len(jobs) <= maxJobNames {
		var names []string
		for _, job := range jobs {
			if len(job.Name) <= validation.LabelValueMaxLength { // A longer name does not fit in a label.
				names = append(names, job.Name)
			}
		}
		if r, err := labels.NewRequirement(batchv1.JobNameLabel, selection.In, names); err == nil {
			return r.String()
		}
	}
	return batchv1.JobNameLabel
}

// Input returns the data read about a Job of the list that may be stalled.
func (s *Stalls) Input(job *batchv1.Job, ruleNames []string, now time.Time) explain.Input {
	f := explain.Input{Listed: true, Now: now, Job: job, RuleNames: ruleNames}
	if s != nil {
		f.Pods, f.Events = s.pods.byJob[job.UID], slices.Concat(s.events.byJob[job.UID], s.podEvents.byJob[job.UID])
	}
	return f
}

// Failures returns the data read about a Job of the list that has failures, with its failed pods. PodsRead is set if all of
// them were read.
func (s *Stalls) Failures(job *batchv1.Job, ruleNames []string, now time.Time) explain.Input {
	f := s.Input(job, ruleNames, now)
	if s != nil {
		f.Pods = slices.Concat(f.Pods, s.failed.byJob[job.UID])
		f.PodsRead = s.failed.byJob != nil && s.failed.gap == nil
	}
	return f
}

// Gaps lists the data that could not be read.
func (s *Stalls) Gaps() []explain.Gap {
	if s == nil {
		return nil
	}
	var gaps []explain.Gap
	for _, gap := range []*explain.Gap{s.pods.gap, s.events.gap} {
		if gap != nil {
			gaps = append(gaps, *gap)
		}
	}
	return gaps
}

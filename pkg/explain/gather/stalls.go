package gather

import (
	"context"
	"maps"
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

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

const (
	// maxStallObjects is the maximum number of pods, and of events, that are read for a list: one page.
	maxStallObjects = 500
	// maxJobNames is the maximum number of Jobs in a selector; for more Jobs, the pods of all Jobs are selected.
	maxJobNames = 50
	// slowStart is the time for which a pod may have a node and not start before the warnings about pods are read.
	slowStart = 15 * time.Second
)

// Stalls holds the results of at most four requests that explain why Jobs of a list make no progress, or fail (ADR 0017).
type Stalls struct {
	pods   ofJobs[*input.Pod]  // pods that have not ended
	failed ofJobs[*input.Pod]  // pods that failed
	events ofJobs[input.Event] // warnings about Jobs
	// podEvents holds warnings about pods that do not start, and whose status does not explain why.
	podEvents ofJobs[input.Event]
	// restarted is the last failure of a restarted container of each Job.
	restarted map[types.UID]*input.Container
	// counted is the number of failures of each Job at the time its failed pods were read.
	counted map[types.UID]int32
}

// ofJobs holds the objects read for Jobs, and the Gap, nil if there is none.
type ofJobs[T any] struct {
	byJob   map[types.UID][]T
	gap     *input.Gap
	refused bool // the gap is a missing permission
}

// ReadStalls reads the data for Jobs of a namespace, or of all with "". jobs may be stalled: their pods that have not ended
// are read, if some are active. lacking run some of their pods, and lack others. failing are Jobs with failures: their failed
// pods are read, unless before has them. For all of them, warnings are read; and warnings about pods, if at now a pod has had a node for long and its status does not explain why it
// does not start. If a request fails, the data in before is kept, unless the request is forbidden. before may be nil.
func ReadStalls(ctx context.Context, client kube.Interface, namespace string, jobs, lacking, failing []*batchv1.Job, before *Stalls, now time.Time) *Stalls {
	if before == nil {
		before = &Stalls{}
	}
	s := &Stalls{failed: before.failed, counted: before.counted, restarted: maps.Clone(before.restarted)}

	// The failed pods, if Jobs have failures whose pods have not been read.
	unread := slices.ContainsFunc(failing, func(job *batchv1.Job) bool { return before.counted[job.UID] != job.Status.Failed })
	if unread {
		var err error
		s.failed, err = readPods(ctx, client, namespace, PodsOfJobs(failing), "status.phase=Failed", before.failed)
		if err == nil || apierrors.IsForbidden(err) { // After other errors, the next attempt may succeed.
			s.counted = map[types.UID]int32{}
			for _, job := range failing {
				s.counted[job.UID] = job.Status.Failed
			}
		}
	}

	// The warnings about a single Job, or about all Jobs.
	warnings := fields.Set{"involvedObject.kind": "Job", "type": corev1.EventTypeWarning}
	switch all := slices.Concat(jobs, lacking, failing); {
	case len(all) == 0:
	case len(jobs)+len(lacking) == 0 && !unread:
		s.events = before.events
	default:
		if len(all) == 1 {
			warnings["involvedObject.name"] = all[0].Name
		}
		s.events = readEvents(ctx, client, namespace, warnings, before.events, func(job types.UID) types.UID { return job })
	}

	// The pods that have not ended, and warnings such as FailedMount if one does not start for an unknown reason. Among the pods
	// of all Jobs, running pods are left out, as there may be many.
	active := slices.DeleteFunc(slices.Clone(jobs), func(job *batchv1.Job) bool { return job.Status.Active == 0 })
	if len(active) == 0 {
		return s
	}
	phases := "status.phase!=Succeeded,status.phase!=Failed"
	if len(active) > maxJobNames {
		phases = "status.phase=Pending"
	}
	s.pods, _ = readPods(ctx, client, namespace, PodsOfJobs(active), phases, before.pods)
	s.rememberRestarts()
	if owners := s.slowPods(now); len(owners) > 0 {
		about := fields.Set{"involvedObject.kind": "Pod", "type": corev1.EventTypeWarning}
		jobOf := func(pod types.UID) types.UID { return owners[pod] }
		s.podEvents = readEvents(ctx, client, namespace, about, before.podEvents, jobOf)
	}
	return s
}

// readPods reads one page of pods. After an error, it returns before, unless reading is forbidden.
func readPods(
	ctx context.Context, client kube.Interface, namespace, labels, phases string, before ofJobs[*input.Pod],
) (ofJobs[*input.Pod], error) {
	options := metav1.ListOptions{LabelSelector: labels, FieldSelector: phases, Limit: maxStallObjects}
	page, err := client.CoreV1().Pods(namespace).List(ctx, options)
	if err != nil {
		return before.after(err, namespace, "pods"), err
	}
	read := pageOf[*input.Pod](page, "pods")
	for i := range page.Items {
		pod := &page.Items[i]
		if pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodPending && pod.Status.Phase != corev1.PodFailed {
			continue // Only the Job's other pods show whether it holds up the Job.
		}
		job := observe.JobUID(pod)
		read.byJob[job] = append(read.byJob[job], input.PodOf(pod))
	}
	return read, nil
}

// readEvents reads one page of events; jobOf returns the Job of an object, "" to leave out its events. After an error, it
// returns before, unless reading is forbidden.
func readEvents(
	ctx context.Context, client kube.Interface, namespace string, about fields.Set, before ofJobs[input.Event],
	jobOf func(types.UID) types.UID,
) ofJobs[input.Event] {
	page, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: about.String(), Limit: maxStallObjects})
	if err != nil {
		return before.after(err, namespace, "events")
	}
	read := pageOf[input.Event](page, "events")
	for i := range page.Items {
		if job := jobOf(page.Items[i].InvolvedObject.UID); job != "" {
			read.byJob[job] = append(read.byJob[job], input.EventOf(&page.Items[i]))
		}
	}
	return read
}

// pageOf returns an empty ofJobs, with a Gap if the page is not the last.
func pageOf[T any](page metav1.ListInterface, what string) ofJobs[T] {
	read := ofJobs[T]{byJob: map[types.UID][]T{}}
	if page.GetContinue() != "" {
		read.gap = &input.Gap{What: what, Text: "there are many " + what + ": only some of them were read"}
	}
	return read
}

// after returns the data that remains after an error: none if reading is forbidden.
func (before ofJobs[T]) after(err error, namespace, what string) ofJobs[T] {
	refused := apierrors.IsForbidden(err)
	if before.byJob != nil && !refused {
		return before
	}
	return ofJobs[T]{gap: ptr.To(GapOf(namespace, "list", what, err)), refused: refused}
}

// rememberRestarts keeps how containers ended that are restarted: their Job's controller may delete the pods when it fails.
func (s *Stalls) rememberRestarts() {
	for job, pods := range s.pods.byJob {
		for _, p := range pods {
			if c := p.LastFailure(); c != nil && c.ExitCode != 0 && p.Restarts > 0 {
				if s.restarted == nil {
					s.restarted = map[types.UID]*input.Container{}
				}
				s.restarted[job] = c
			}
		}
	}
}

// Restarted returns the last failure of a restarted container of a Job, as far as it was read while the Job ran; or nil.
func (s *Stalls) Restarted(job types.UID) *input.Container {
	if s == nil {
		return nil
	}
	return s.restarted[job]
}

// slowPods returns the pods that a kubelet has had for a while and whose status does not explain the delay, with their Jobs.
func (s *Stalls) slowPods(now time.Time) map[types.UID]types.UID {
	explainsWait := func(c input.Container) bool { return c.ExplainsWait() }
	slow := map[types.UID]types.UID{}
	for job, pods := range s.pods.byJob {
		for _, p := range pods {
			isLate := p.Phase == corev1.PodPending && p.Node != "" && !p.CreatedAt.IsZero() && now.Sub(p.CreatedAt) >= slowStart
			if isLate && !slices.ContainsFunc(p.Containers, explainsWait) {
				slow[p.UID] = job
			}
		}
	}
	return slow
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

// PodsOfJobs selects the pods of the Jobs by their label, or the pods of all Jobs.
func PodsOfJobs(jobs []*batchv1.Job) string {
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
func (s *Stalls) Input(job *batchv1.Job, ruleNames []string, now time.Time) input.Input {
	f := input.Input{Listed: true, Now: now, Job: job, RuleNames: ruleNames}
	if s != nil {
		f.Pods, f.Events = s.pods.byJob[job.UID], slices.Concat(s.events.byJob[job.UID], s.podEvents.byJob[job.UID])
	}
	return f
}

// Failures returns the data read about a Job of the list that has failures, with its failed pods. PodsRead is set if all of
// them were read.
func (s *Stalls) Failures(job *batchv1.Job, ruleNames []string, now time.Time) input.Input {
	f := s.Input(job, ruleNames, now)
	if s != nil {
		f.Pods = slices.Concat(f.Pods, s.failed.byJob[job.UID])
		f.PodsRead = s.failed.byJob != nil && s.failed.gap == nil
	}
	return f
}

// Gaps lists the data that could not be read.
func (s *Stalls) Gaps() []input.Gap {
	if s == nil {
		return nil
	}
	var gaps []input.Gap
	for _, gap := range []*input.Gap{s.pods.gap, s.events.gap} {
		if gap != nil {
			gaps = append(gaps, *gap)
		}
	}
	return gaps
}

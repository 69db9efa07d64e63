package gather

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

func (r *reading) events(ctx context.Context) {
	about := []fields.Set{EventsOfJob(r.facts.Job), EventsOfPods()}
	if r.options.WithoutPodEvents {
		about = about[:1]
	}
	keep := func(_ *corev1.Event, e explain.Event) explain.Event { return e }
	var complete bool
	var err error
	r.facts.Events, complete, err = Events(ctx, r.client, r.facts.Job, r.facts.Pods, about, keep)
	switch {
	case err != nil:
		r.gap("list", "events", err)
	case r.options.WithoutPodEvents:
	case !complete:
		r.facts.Gaps = append(r.facts.Gaps, ManyEvents())
	default:
		r.facts.EventsRead = true
	}
}

// Events reads what keep makes of the events about the Job, and of those about its pods. The latter are found among all of
// the namespace's: a pod that is gone is known by its name. complete reports whether all were looked through. With an
// error, there are those that were read before it.
func Events[T any](ctx context.Context, client kube.Interface, job *batchv1.Job, pods []*explain.Pod, about []fields.Set, keep func(*corev1.Event, explain.Event) T) (all []T, complete bool, err error) {
	mine := map[string]bool{"": true} // no pod: the Job
	for i := range pods {
		mine[pods[i].Name] = true
	}
	complete = true
	for _, objects := range about {
		before := len(all)
		_, whole, err := EachEvent(ctx, client, job.Namespace, objects, func() { all = all[:before] }, func(event *corev1.Event) {
			if e := explain.EventOf(event); mine[e.Pod] || MayBeOfJob(job, &e) {
				all = append(all, keep(event, e))
			}
		})
		if err != nil {
			return all, false, err
		}
		complete = complete && whole
	}
	return all, complete, nil
}

// ManyEvents is for a namespace with more than MaxEvents events of pods.
func ManyEvents() explain.Gap {
	return explain.Gap{What: "events", Text: fmt.Sprintf("the namespace has many events: only %d of those about pods were read", MaxEvents)}
}

// EventsOfJob selects the events about the Job itself.
func EventsOfJob(job *batchv1.Job) fields.Set {
	about := fields.Set{"involvedObject.kind": "Job", "involvedObject.name": job.Name}
	if job.UID != "" {
		about["involvedObject.uid"] = string(job.UID)
	}
	return about
}

// EventsOfPods selects the events about any pod.
func EventsOfPods() fields.Set { return fields.Set{"involvedObject.kind": "Pod"} }

// EventsOfPod selects the events about pods of a name.
func EventsOfPod(name string) fields.Set {
	return fields.Set{"involvedObject.kind": "Pod", "involvedObject.name": name}
}

// EachEvent reads the first MaxEvents events of a namespace, in pages. complete reports whether
// these are all, and version is the resourceVersion to watch from. begin comes before the
// first page: once more if reading has to start over. An event is each's only until it
// returns.
func EachEvent(ctx context.Context, client kube.Interface, namespace string, about fields.Set, begin func(), each func(*corev1.Event)) (version string, complete bool, err error) {
	seen := 0
	err = eachPage(ctx, metav1.ListOptions{FieldSelector: about.String(), Limit: eventPageSize}, func(options metav1.ListOptions) (string, error) {
		if options.Continue == "" {
			seen = 0
			begin()
		}
		page, err := client.CoreV1().Events(namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		version = page.ResourceVersion
		for i := range page.Items {
			if seen++; seen > MaxEvents {
				return "", nil
			}
			each(&page.Items[i])
		}
		return page.Continue, nil
	})
	return version, err == nil && seen <= MaxEvents, err
}

// MayBeOfJob reports whether the event can be about a pod of the Job that is gone.
func MayBeOfJob(job *batchv1.Job, e *explain.Event) bool {
	return mayBePodOf(job, e.Pod) && !e.Last.Before(job.CreationTimestamp.Time)
}

// How the API server makes names from generateName: so many bytes of it, and a suffix of
// these letters.
const (
	maxGenerateName = 58
	suffixLength    = 5
	suffixLetters   = "bcdfghjklmnpqrstvwxz2456789"
)

// mayBePodOf reports whether a Job of this name could have made a pod of that name: the pod is
// gone, and its name is all that is left of it.
func mayBePodOf(job *batchv1.Job, pod string) bool {
	if len(pod) < suffixLength || strings.Trim(pod[len(pod)-suffixLength:], suffixLetters) != "" {
		return false
	}
	made := pod[:len(pod)-suffixLength]
	if !jobspec.IsIndexed(&job.Spec) {
		whole := job.Name + "-"
		return made == whole[:min(len(whole), maxGenerateName)]
	}
	rest, isGenerated := strings.CutSuffix(made, "-")
	dash := strings.LastIndexByte(rest, '-')
	if !isGenerated || dash < 0 {
		return false
	}
	text := rest[dash+1:]
	index, err := strconv.ParseInt(text, 10, 32)
	if err != nil || strconv.FormatInt(index, 10) != text || index >= int64(ptr.Deref(job.Spec.Completions, math.MaxInt32)) {
		return false
	}
	room := maxGenerateName - len("-"+text+"-")
	return rest[:dash] == job.Name[:min(len(job.Name), room)]
}

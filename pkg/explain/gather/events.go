package gather

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Events reads the events about the Job and about its pods, and returns the results of keep. It searches all pod events of
// the namespace, as a deleted pod is known only by its name. complete reports whether all events were searched. If it returns
// an error, the events read before it are returned too.
func Events[T any](ctx context.Context, client kube.Interface, job *batchv1.Job, pods []*input.Pod, about []fields.Set, keep func(*corev1.Event, input.Event) T) (all []T, complete bool, err error) {
	mine := map[string]bool{"": true} // no pod means the Job
	for i := range pods {
		mine[pods[i].Name] = true
	}
	complete = true
	for _, objects := range about {
		before := len(all)
		_, whole, err := EachEvent(ctx, client, job.Namespace, objects, func() { all = all[:before] }, func(event *corev1.Event) {
			if e := input.EventOf(event); mine[e.Pod] || MayBeOfJob(job, &e) {
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

// ManyEvents returns the Gap for a namespace with more than MaxEvents pod events.
func ManyEvents() input.Gap {
	return input.Gap{What: "events", Text: fmt.Sprintf("the namespace has many events: only %d of those about pods were read", MaxEvents)}
}

// EventsNamed selects the events about all Jobs of this name, which existed one after the other.
func EventsNamed(job string) fields.Set { return eventsOf("Job", job, "") }

// EventsOfJob selects the events about the Job itself.
func EventsOfJob(job *batchv1.Job) fields.Set { return eventsOf("Job", job.Name, job.UID) }

func eventsOf(kind, name string, uid types.UID) fields.Set {
	about := fields.Set{"involvedObject.kind": kind, "involvedObject.name": name}
	if uid != "" {
		about["involvedObject.uid"] = string(uid)
	}
	return about
}

// ownerEvents reads the events about a CronJob or JobSet. It returns a Gap if they cannot be read.
func ownerEvents(ctx context.Context, client kube.Interface, namespace string, about fields.Set) (all []input.Event, gaps []input.Gap) {
	_, _, err := EachEvent(ctx, client, namespace, about, func() { all = nil }, func(e *corev1.Event) {
		all = append(all, input.EventOf(e))
	})
	if err != nil {
		gaps = []input.Gap{GapOf(namespace, "list", "events", err)}
	}
	return all, gaps
}

// EventsOfPods selects the events about any pod.
func EventsOfPods() fields.Set { return fields.Set{"involvedObject.kind": "Pod"} }

// EventsOfPod selects the events about pods of this name.
func EventsOfPod(name string) fields.Set {
	return fields.Set{"involvedObject.kind": "Pod", "involvedObject.name": name}
}

// NodeWarnings reads the warnings about nodes, which are in the namespace default, in one request.
func NodeWarnings(ctx context.Context, client kube.Interface) ([]input.Event, error) {
	about := fields.Set{"involvedObject.kind": "Node", "type": corev1.EventTypeWarning}
	page, err := client.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: about.String(), Limit: eventPageSize})
	if err != nil {
		return nil, err
	}
	all := make([]input.Event, 0, len(page.Items))
	for i := range page.Items {
		all = append(all, input.EventOf(&page.Items[i]))
	}
	return all, nil
}

// EachEvent reads the first MaxEvents events of a namespace, in pages. complete reports whether these are all, and version is
// the resourceVersion to watch from. begin is called before the first page, and again if reading has to start over. each must
// not keep the event after it returns.
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

// MayBeOfJob reports whether the event may be about a deleted pod of the Job.
func MayBeOfJob(job *batchv1.Job, e *input.Event) bool {
	_, is := input.IndexInName(job, e.Pod)
	return is && !e.Last.Before(job.CreationTimestamp.Time)
}

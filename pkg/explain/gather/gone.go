package gather

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gone"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// maxTraces is the number of pods and events that are read about a Job that does not exist.
const maxTraces = 100

// Traces reads what a Job that does not exist left behind. It makes up to six requests, and leaves out what it may not read.
func Traces(ctx context.Context, client kube.Interface, namespace, name string, now time.Time) *gone.Traces {
	t := &gone.Traces{Now: now, Namespace: namespace, Name: name}
	if pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: podsNamedAfter(name), Limit: maxTraces}); err == nil {
		for i := range pods.Items {
			t.Pods = append(t.Pods, &pods.Items[i])
		}
	}
	about := EventsNamed(name).String()
	if events, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: about, Limit: maxTraces}); err == nil {
		t.Events = events.Items
	}
	t.NamespaceDeleted = isDeleted(ctx, client, namespace)
	cronJob := cmp.Or(gone.CronJobOf(name), name)
	if _, err := client.BatchV1().CronJobs(namespace).Get(ctx, cronJob, metav1.GetOptions{}); err == nil {
		t.CronJob = cronJob
	}
	if len(t.Pods)+len(t.Events) > 0 || t.NamespaceDeleted || t.CronJob != "" {
		return t
	}
	if pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{}); err == nil {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "Job" {
			t.PodOf = owner.Name
		}
		return t
	}
	if jobs, err := client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{Limit: maxSimilar}); err == nil {
		for i := range jobs.Items {
			t.Jobs = append(t.Jobs, jobs.Items[i].Name)
		}
	}
	return t
}

// maxSimilar is the number of Jobs among which a similar name is searched.
const maxSimilar = 500

// isDeleted reports whether the namespace is known to be being deleted.
func isDeleted(ctx context.Context, client kube.Interface, namespace string) bool {
	rest := client.CoreV1().RESTClient()
	if rest == nil {
		return false
	}
	var ns corev1.Namespace
	err := rest.Get().Resource("namespaces").Name(namespace).Do(ctx).Into(&ns)
	return err == nil && ns.DeletionTimestamp != nil
}

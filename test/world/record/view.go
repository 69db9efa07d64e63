package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
)

// view is the state of a namespace at one time: as served, and decoded.
type view struct {
	at     time.Time
	raw    []unstructured.Unstructured
	jobs   []batchv1.Job
	pods   []corev1.Pod
	events []corev1.Event
	lease  *coordinationv1.Lease
}

var (
	jobResource   = batchv1.SchemeGroupVersion.WithResource("jobs")
	cronResource  = batchv1.SchemeGroupVersion.WithResource("cronjobs")
	podResource   = corev1.SchemeGroupVersion.WithResource("pods")
	eventResource = corev1.SchemeGroupVersion.WithResource("events")
	leaseResource = coordinationv1.SchemeGroupVersion.WithResource("leases")
)

// look reads the objects that concern the Jobs of the namespace, owners first and effects after their causes: a status
// is never newer than the pods beside it.
func (s *stage) look(ctx context.Context) (*view, error) {
	v := &view{}
	for _, resource := range []schema.GroupVersionResource{cronResource, jobSets, jobResource, podResource, eventResource} {
		list, err := s.objects.Resource(resource).Namespace(s.ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			if resource == eventResource && !concernsJobs(item) {
				continue
			}
			if err := v.add(item); err != nil {
				return nil, err
			}
		}
	}
	if err := s.lookAtLease(ctx, v); err != nil {
		return nil, err
	}
	v.at = s.now()
	return v, nil
}

func (s *stage) lookAtLease(ctx context.Context, v *view) error {
	if s.isBuiltin {
		return nil
	}
	item, err := s.objects.Resource(leaseResource).Namespace(leaseNamespace).Get(ctx, leader.LeaseName(s.managedBy), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return v.add(*item)
}

func concernsJobs(event unstructured.Unstructured) bool {
	kind, _, _ := unstructured.NestedString(event.Object, "involvedObject", "kind")
	return slices.Contains([]string{"Job", "Pod", "CronJob", "JobSet"}, kind)
}

func (v *view) add(item unstructured.Unstructured) error {
	v.raw = append(v.raw, item)
	switch item.GetKind() {
	case "Job":
		return typed(item, &v.jobs)
	case "Pod":
		return typed(item, &v.pods)
	case "Event":
		return typed(item, &v.events)
	case "Lease":
		v.lease = &coordinationv1.Lease{}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, v.lease)
	}
	return nil
}

func typed[T any](item unstructured.Unstructured, list *[]T) error {
	var object T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &object); err != nil {
		return err
	}
	*list = append(*list, object)
	return nil
}

// String describes the state, to help find out why a scenario does not continue.
func (v *view) String() string {
	if v == nil {
		return "nothing"
	}
	var b strings.Builder
	for _, j := range v.jobs {
		fmt.Fprintf(&b, "job %s active %d ready %v terminating %v succeeded %d failed %d", j.Name, j.Status.Active, value(j.Status.Ready), value(j.Status.Terminating), j.Status.Succeeded, j.Status.Failed)
		for _, c := range j.Status.Conditions {
			fmt.Fprintf(&b, ", %s=%s/%s", c.Type, c.Status, c.Reason)
		}
	}
	for _, p := range v.pods {
		fmt.Fprintf(&b, "; pod %s %s %v", p.Name, p.Status.Phase, p.Finalizers)
	}
	for _, e := range v.events {
		fmt.Fprintf(&b, "; event %s %s", e.InvolvedObject.Name, e.Reason)
	}
	return b.String()
}

func value(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

package integration

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// trace returns the history of a namespace, one version per line.
func (r *recorder) trace() string {
	var b strings.Builder
	for _, v := range r.stored() {
		text := ""
		if v.Job != nil {
			text = jobLine(v.Job)
		} else {
			text = podLine(v.Pod)
		}
		if v.Gone {
			text += " GONE"
		}
		fmt.Fprintf(&b, "%6d %7.3fs %s\n", v.Revision, v.Seen.Sub(r.started).Seconds(), text)
	}
	return b.String()
}

func jobLine(job *batchv1.Job) string {
	s, spec := &job.Status, &job.Spec
	var b strings.Builder
	fmt.Fprintf(&b, "job %s gen %d", job.Name, job.Generation)
	if spec.Completions != nil {
		fmt.Fprintf(&b, " completions %d", *spec.Completions)
	}
	fmt.Fprintf(&b, " parallelism %d:", ptr.Deref(spec.Parallelism, 1))
	fmt.Fprintf(&b, " active %d ready %d terminating %d succeeded %d failed %d", s.Active, ptr.Deref(s.Ready, 0), ptr.Deref(s.Terminating, 0), s.Succeeded, s.Failed)
	if s.CompletedIndexes != "" {
		fmt.Fprintf(&b, " completed %s", s.CompletedIndexes)
	}
	if list := history.UncountedSucceeded(&job.Status); len(list) > 0 {
		fmt.Fprintf(&b, " uncounted succeeded %v", short(list))
	}
	if list := history.UncountedFailed(&job.Status); len(list) > 0 {
		fmt.Fprintf(&b, " uncounted failed %v", short(list))
	}
	if s.StartTime == nil {
		b.WriteString(" not started")
	}
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, " %s=%s(%s)", c.Type, c.Status, c.Reason)
	}
	if job.DeletionTimestamp != nil {
		b.WriteString(" deleting")
	}
	return b.String()
}

func podLine(pod *corev1.Pod) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pod %s %v %s", pod.Name, short([]types.UID{pod.UID}), pod.Status.Phase)
	if pod.Spec.NodeName != "" {
		b.WriteString(" on a node")
	}
	if pod.DeletionTimestamp != nil {
		fmt.Fprintf(&b, " deleting (grace %d)", ptr.Deref(pod.DeletionGracePeriodSeconds, 0))
	}
	for _, f := range pod.Finalizers {
		fmt.Fprintf(&b, " %s", f)
	}
	return b.String()
}

// short makes UIDs readable.
func short(uids []types.UID) []types.UID {
	out := make([]types.UID, 0, len(uids))
	for _, uid := range uids {
		out = append(out, uid[:min(8, len(uid))])
	}
	return out
}

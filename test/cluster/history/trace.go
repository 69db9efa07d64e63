package history

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Trace returns the history of a namespace, one version per line.
func (l *Log) Trace(namespace string) string {
	var b strings.Builder
	for _, v := range l.In(namespace) {
		text := ""
		if v.Job != nil {
			text = JobLine(v.Job)
		} else {
			text = PodLine(v.Pod)
		}
		if v.Gone {
			text += " GONE"
		}
		fmt.Fprintf(&b, "%6d %s %s\n", v.Revision, v.Seen.Format("04:05.000"), text)
	}
	return b.String()
}

// JobLine describes a Job and its status in one line.
func JobLine(job *batchv1.Job) string {
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
	if s.FailedIndexes != nil {
		fmt.Fprintf(&b, " failed indexes %q", *s.FailedIndexes)
	}
	if list := UncountedSucceeded(&job.Status); len(list) > 0 {
		fmt.Fprintf(&b, " uncounted succeeded %v", short(list))
	}
	if list := UncountedFailed(&job.Status); len(list) > 0 {
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

// PodLine describes a pod in one line.
func PodLine(pod *corev1.Pod) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pod %s %v attempt %s %s", pod.Name, short([]types.UID{pod.UID}), pod.Annotations["batchjob.dev/attempt"], pod.Status.Phase)
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

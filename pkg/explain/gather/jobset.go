package gather

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// JobSet reads a JobSet with one request, and the events about it with another if it has no Jobs. A missing permission, and
// events that cannot be read, are reported as Gaps; the JobSet is nil then, or if it does not exist while its Jobs do.
func JobSet(ctx context.Context, client kube.Interface, namespace, name string, jobs int, now time.Time) (input.JobSet, error) {
	in := input.JobSet{Now: now, Namespace: namespace, Name: name, Jobs: jobs}
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/apis", input.JobSetGroup, input.JobSetVersion, "namespaces", namespace, "jobsets", name).
		SetHeader("Accept", "application/json").DoRaw(ctx)
	switch {
	case err == nil:
	case apierrors.IsForbidden(err):
		in.Gaps = append(in.Gaps, GapOf(namespace, "get", input.JobSets, err))
		return in, nil
	case apierrors.IsNotFound(err) && jobs > 0:
		return in, nil
	default:
		call := apicall.Call{Verb: "get", Group: input.JobSetGroup, Resource: "jobsets", Namespace: namespace, Name: name}
		return in, call.Wrap(err)
	}
	if err := json.Unmarshal(text, &in.JobSet); err != nil {
		return in, fmt.Errorf("reading JobSet %q: %w", name, err)
	}
	if jobs > 0 {
		return in, nil
	}
	about := fields.Set{"involvedObject.kind": "JobSet", "involvedObject.name": name}
	if uid := in.JobSet.Metadata.UID; uid != "" {
		about["involvedObject.uid"] = string(uid)
	}
	_, _, err = EachEvent(ctx, client, namespace, about, func() { in.Events = nil }, func(e *corev1.Event) {
		in.Events = append(in.Events, input.EventOf(e))
	})
	if err != nil {
		in.Gaps = append(in.Gaps, GapOf(namespace, "list", "events", err))
	}
	return in, ctx.Err()
}

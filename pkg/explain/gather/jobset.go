package gather

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

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
	in.Events, in.Gaps = ownerEvents(ctx, client, namespace, eventsOf("JobSet", name, in.JobSet.Metadata.UID))
	return in, ctx.Err()
}
